import { isAncestor } from '../git/graph.ts'
import { HttpError } from '../http/http-error.ts'
import { type Actor, type CheckRun, type Protection, type Repository, roleOf, type World } from '../world.ts'

const SATISFIES = ['success', 'neutral', 'skipped']

/** Whether protection does not bind this actor: admins, unless it is enforced for them too. */
export function isFree(world: World, repository: Repository, protection: Protection, actor: Actor): boolean {
  const admin = actor.kind === 'user' && roleOf(world, repository, actor.user) === 'admin'
  return admin && !protection.enforceAdmins
}

/** Why the required checks do not hold for a commit; undefined when they do. */
export function missingCheck(repository: Repository, protection: Protection, sha: string): string | undefined {
  for (const { context, appId } of protection.checks) {
    const run = latestRun(repository, sha, context, appId)
    if (!run) return `Required status check "${context}" is expected.`
    if (run.status !== 'completed') return `Required status check "${context}" is pending.`
    if (!SATISFIES.includes(run.conclusion ?? '')) return `Required status check "${context}" is failing.`
  }
  return undefined
}

/** The newest run of that name: an older one that succeeded does not count, nor does one of another app. */
function latestRun(repository: Repository, sha: string, name: string, appId: number | null): CheckRun | undefined {
  return repository.checkRuns.findLast(
    run => run.headSha === sha && run.name === name && (appId === null || run.app.id === appId),
  )
}

/** Throws 422 when protection forbids this actor to move a branch so. A pull request's merge is asked elsewhere. */
export function mayPush(
  world: World,
  repository: Repository,
  branch: string,
  after: string | undefined,
  actor: Actor,
): void {
  const protection = repository.protection.get(branch)
  const before = repository.refs.get(`refs/heads/${branch}`)
  if (!protection || before === undefined) return
  const refuse = (why: string) =>
    new HttpError(422, `GH006: Protected branch update failed for refs/heads/${branch}. ${why}`)
  if (after === undefined) throw refuse('Cannot delete this branch.')
  if (!protection.allowForcePushes && !isAncestor(repository.store, before, after)) {
    throw refuse('Cannot force-push to this branch.')
  }
  if (isFree(world, repository, protection, actor)) return
  if (protection.requirePullRequest) throw refuse('Changes must be made through a pull request.')
  const missing = missingCheck(repository, protection, after)
  if (missing) throw refuse(missing)
}
