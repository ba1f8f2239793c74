import type { NamedCheck } from '../../src/gate/check-names.ts'
import { listOurCheckRuns, type OurCheckRun } from '../../src/github/checks/list-check-runs.ts'
import { type ListedPullRequest, listOpenPullRequests } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openPlace } from '../publish/open-place.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'
import type { RepositoryBases } from './repository-bases.ts'
import { isOfOtherBase, isUnasked, supersedeRuns } from './supersede-runs.ts'

/** An open pull request, the checks that it gets, and our runs on its head as they are then. */
export interface SettledPull {
  readonly pull: ListedPullRequest
  readonly checks: readonly NamedCheck[]
  readonly runs: readonly OurCheckRun[]
}

/**
 * Brings the names of our runs in line with the gated bases of a repository, before anything is evaluated: on the heads of
 * open pull requests and on the tips of branches, what counts for no base, or passes for another one, is renamed. Answers
 * the open pull requests.
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
  let opened: Promise<PublishTarget> | undefined
  const place = () => {
    opened ??= openPlace(context, { installation: installation.id, ...name }, repository.id)
    return opened
  }
  const settled: SettledPull[] = []
  for (const [sha, pulls] of Map.groupBy(open, ({ head }) => head.sha)) {
    const checks = await bases.checksOf(pulls.map(({ base }) => base.ref))
    const runs = await settleCommit(place, checks, await listOurCheckRuns(octokit, app, name, sha))
    for (const pull of pulls) settled.push({ pull, checks: checksAt(checks, pull.base.ref), runs })
  }
  for (const branch of bases.followed) {
    const tip = await installation.head(repository, { branch })
    // what the queue merged, or an older version published, would let a pull request from the tip merge at once
    if (tip !== undefined && open.every(({ head }) => head.sha !== tip))
      await settleCommit(place, await bases.checksOf([branch]), await listOurCheckRuns(octokit, app, name, tip))
  }
  return settled
}

function settleCommit(
  place: () => Promise<PublishTarget>,
  checks: readonly NamedCheck[],
  runs: readonly OurCheckRun[],
) {
  return supersedeRuns(place, runs, run => isUnasked(run, checks) || isOfOtherBase(run, checks))
}

/** Those of the checks of a commit that let it be merged into this base. */
export function checksAt(checks: readonly NamedCheck[], base: string): readonly NamedCheck[] {
  return checks.filter(({ bases }) => bases.includes(base))
}
