import { checkSuiteJson } from '../json/check-suite.ts'
import { type App, type CheckSuite, now, type Repository, type User, type World } from '../world.ts'

/** The worst first: what a suite concludes when its runs differ. */
const CONCLUSIONS = ['failure', 'timed_out', 'action_required', 'cancelled', 'stale', 'success', 'neutral', 'skipped']

interface PushedHead {
  readonly branch: string
  readonly before: string | undefined
  readonly after: string
}

/** The suite of an app on a commit; there is never a second one. */
export function suiteOf(repository: Repository, app: App, sha: string): CheckSuite | undefined {
  return repository.suitesByHead.get(`${app.id} ${sha}`)
}

/** The suite for a check run of that app on that commit, made where the push made none (a fork's commit). */
export function ensureSuite(world: World, repository: Repository, app: App, sha: string): CheckSuite {
  return suiteOf(repository, app, sha) ?? addSuite(world, repository, app, { sha, branch: branchAt(repository, sha) })
}

/** After a push, every app that may write checks there is asked for its own, once per commit. */
export function requestSuites(world: World, repository: Repository, by: User, head: PushedHead): void {
  for (const { app, account, permissions, repositories, suspended } of world.installations.values()) {
    const covered = repositories === 'all' || repositories.has(repository.id)
    if (account !== repository.owner || !covered || permissions.checks !== 'write' || suspended) continue
    if (suiteOf(repository, app, head.after)) continue
    const { branch, before } = head
    const suite = addSuite(world, repository, app, { sha: head.after, branch, before })
    announce(world, repository, 'requested', suite, by)
  }
}

/** Somebody pressed "Re-run all checks". The runs stay as they are until the app changes them. */
export function rerequestSuite(world: World, repository: Repository, suite: CheckSuite, by: User): void {
  reset(suite)
  announce(world, repository, 'rerequested', suite, by)
}

/** Puts a suite back to queued, as GitHub does when one of its runs is asked for again. */
export function reset(suite: CheckSuite): void {
  suite.status = 'queued'
  suite.conclusion = null
  suite.updatedAt = now()
}

/** Follows a change of one of its runs; says so when all are complete now and were not before. */
export function followRuns(world: World, repository: Repository, suite: CheckSuite): void {
  const runs = latestRuns(repository, suite)
  const before = suite.status
  suite.updatedAt = now()
  if (runs.some(run => run.status !== 'completed')) {
    suite.status = runs.some(run => run.status === 'in_progress') ? 'in_progress' : 'queued'
    suite.conclusion = null
    return
  }
  suite.status = 'completed'
  suite.conclusion = CONCLUSIONS.find(conclusion => runs.some(run => run.conclusion === conclusion)) ?? 'neutral'
  if (before === 'completed') return
  const payload = { action: 'completed', check_suite: checkSuiteJson(world, repository, suite) }
  world.emit(repository, suite.app.bot, 'check_suite', payload)
}

/** The runs that count: the newest of each name. */
export function latestRuns(repository: Repository, suite: CheckSuite) {
  const byName = new Map(repository.checkRuns.filter(run => run.suite === suite.id).map(run => [run.name, run]))
  return [...byName.values()]
}

/** `requested` and `rerequested` go to the one app that is meant. */
function announce(world: World, repository: Repository, action: string, suite: CheckSuite, by: User): void {
  const payload = { action, check_suite: checkSuiteJson(world, repository, suite) }
  world.emit(repository, by, 'check_suite', payload, suite.app)
}

function addSuite(
  world: World,
  repository: Repository,
  app: App,
  head: { readonly sha: string; readonly branch: string | null; readonly before?: string | undefined },
): CheckSuite {
  const suite: CheckSuite = {
    ...{ id: world.nextId(), app, headSha: head.sha, headBranch: head.branch, status: 'queued', conclusion: null },
    ...{ before: head.before ?? null, createdAt: now(), updatedAt: now() },
  }
  repository.checkSuites.set(suite.id, suite)
  repository.suitesByHead.set(`${app.id} ${head.sha}`, suite)
  return suite
}

/** null where no branch of this repository is there, as with a fork's commit (docs, Checks API). */
function branchAt(repository: Repository, sha: string): string | null {
  for (const [ref, at] of repository.refs) {
    if (at === sha && ref.startsWith('refs/heads/')) return ref.slice('refs/heads/'.length)
  }
  return null
}
