import { BRANCH_CHECK_NAME, isTenancyCheck, type NamedCheck } from '../../src/gate/check-names.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { renameCheckRuns } from '../../src/github/checks/rename-check-runs.ts'
import { type ListedPullRequest, listOpenPullRequests } from '../../src/github/pulls/pull-request.ts'
import { isForBases, isOfBranch } from '../../src/report/external-id.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openPlace } from '../publish/open-place.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import { openAnew, staleChecks } from './open-anew.ts'
import type { RepositoryBases } from './repository-bases.ts'
import { supersedeRuns } from './supersede-runs.ts'

/** An open pull request, the checks that it gets, and our runs on its head as they are then. */
export interface SettledPull {
  readonly pull: ListedPullRequest
  readonly checks: readonly NamedCheck[]
  readonly runs: readonly OurCheckRun[]
}

/**
 * Brings the names of our runs in line with the gated bases of a repository, before anything is evaluated: on the heads of
 * open pull requests what counts for no base is renamed, and what was published for other bases begins again; on the tips
 * of branches nothing keeps a name that a rule may require. Answers the open pull requests.
 */
export async function settleRepository(
  context: WorkerContext,
  subject: OpenedRepository,
  bases: RepositoryBases,
): Promise<readonly SettledPull[]> {
  const { repository, installation, octokit } = subject
  const name = { owner: repository.owner, repo: repository.name }
  const open = await listOpenPullRequests(octokit, name)
  const app = await context.app.identity()
  const heads = new Map<string, readonly OurCheckRun[]>()
  let opened: Promise<PublishTarget> | undefined
  const place = () => {
    opened ??= openPlace(context, { installation: installation.id, ...name }, repository.id)
    return opened
  }
  const settled: SettledPull[] = []
  for (const [sha, pulls] of Map.groupBy(open, ({ head }) => head.sha)) {
    const each = await Promise.all(pulls.map(async pull => ({ pull, checks: await bases.checksOnto(pull.base.ref) })))
    const checks = [...new Map(each.flatMap(one => one.checks).map(check => [check.name, check])).values()]
    const listed = await listOurCheckRuns(octokit, app, name, sha)
    const runs = await settleHead(place, sha, checks, listed)
    heads.set(sha, runs)
    for (const one of each) settled.push({ ...one, runs })
  }
  for (const branch of bases.followed) {
    const tip = await installation.head(repository, { branch })
    if (tip !== undefined)
      await settleTip(
        place,
        bases,
        branch,
        heads.get(tip) ?? (await listOurCheckRuns(octokit, app, name, tip)),
        heads.has(tip),
      )
  }
  return settled
}

async function settleHead(
  place: () => Promise<PublishTarget>,
  sha: string,
  checks: readonly NamedCheck[],
  runs: readonly OurCheckRun[],
): Promise<readonly OurCheckRun[]> {
  const names = new Set(checks.map(({ name }) => name))
  if (runs.some(({ name }) => isTenancyCheck(name) && !names.has(name))) await supersedeRuns(await place(), runs, names)
  const stale = staleChecks(checks, runs)
  return stale.length > 0 ? openAnew(await place(), sha, stale, runs) : runs
}

/**
 * What an older version published on the tip of a branch would let a pull request from it merge at once, and so would what
 * was published for other bases when the commit was in a merge queue.
 */
async function settleTip(
  place: () => Promise<PublishTarget>,
  bases: RepositoryBases,
  branch: string,
  runs: readonly OurCheckRun[],
  isHead: boolean,
): Promise<void> {
  const checks = await bases.checksOnto(branch)
  const counts = (run: OurCheckRun) =>
    isHead || checks.some(check => check.name === run.name && isForBases(run.externalId, check))
  for (const run of runs) {
    if (!isTenancyCheck(run.name) || run.status !== 'completed') continue
    if (!isOfBranch(run.externalId) && counts(run)) continue
    const { octokit, app, ...name } = await place()
    const { headSha, name: from } = run
    await renameCheckRuns(octokit, app, name, { headSha, from, to: BRANCH_CHECK_NAME })
  }
}
