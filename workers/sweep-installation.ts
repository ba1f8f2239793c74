import { listOurCheckRuns } from '../src/github/list-check-runs.ts'
import { type ListedPullRequest, listOpenPullRequests } from '../src/github/pull-request.ts'
import type { SweepInstallation } from '../src/queue/queue.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { ReadableRepository } from './combination/installation.ts'
import { readFleets } from './combination/read-fleets.ts'
import { slowTurn } from './staleness/slow-turn.ts'
import { begun, stalenessOf, verdictRun } from './staleness/staleness.ts'
import { headKey, headsThatDecide, type StandingHead, standingHeads } from './staleness/standing-heads.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Finds what of one installation has no verdict, or an old one: branches that a fleet reads, and open pull requests onto
 * whatever branch. One request for each of them, and nothing is written here: what it finds is judged by jobs of its own.
 */
export async function sweepInstallation(
  context: WorkerContext,
  { installation: id }: SweepInstallation,
): Promise<void> {
  const octokit = await context.app.reader(id)
  const app = await context.app.identity()
  const installation = githubInstallation(context, id, octokit)
  const runOf = async ({ owner, name: repo }: ReadableRepository, sha: string) =>
    verdictRun(await listOurCheckRuns(octokit, app, { owner, repo }, sha))
  const repositories = (await installation.repositories()).filter(({ archived }) => !archived)
  const fleets = await readFleets(context, installation)
  const judgedAt = await judgedHeads(context, id, repositories, standingHeads(fleets), runOf)
  const slow: FoundPull[] = []
  for (const repository of repositories) {
    const { owner, name: repo, url } = repository
    for (const pull of await listOpenPullRequests(octokit, { owner, repo })) {
      const found = { repository, pull }
      const deciding = headsThatDecide(fleets, { url, branch: pull.base.ref })
      const since = Math.max(0, ...deciding.map(head => judgedAt.get(headKey(head)) ?? 0))
      const run = await runOf(repository, pull.head.sha)
      const staleness = stalenessOf(run, since)
      if (staleness === 'slowly') slow.push(found)
      // one that is judged again with the same result keeps its run: once is enough
      const isTold = staleness === 'old' && !context.memory.isNew(nameOf(found), `${run?.id} ${since}`)
      if ((staleness === 'missing' || staleness === 'old') && !isTold) await judgePull(context, id, found, 0)
    }
  }
  for (const found of slow) await judgePull(context, id, found, slowTurn(nameOf(found), slow.length, Date.now()))
}

interface FoundPull {
  readonly repository: ReadableRepository
  readonly pull: ListedPullRequest
}

type RunOf = (repository: ReadableRepository, sha: string) => Promise<ReturnType<typeof verdictRun>>

/** When the verdict on each of these heads was begun; one without is asked for. */
async function judgedHeads(
  { queue }: WorkerContext,
  installation: number,
  repositories: readonly ReadableRepository[],
  heads: readonly StandingHead[],
  runOf: RunOf,
): Promise<ReadonlyMap<string, number>> {
  const judgedAt = new Map<string, number>()
  for (const head of heads) {
    const repository = repositories.find(one => one.url === head.url)
    if (!repository) continue
    const run = await runOf(repository, head.commit)
    judgedAt.set(headKey(head), begun(run))
    if (stalenessOf(run) !== 'missing') continue
    const { owner, name: repo } = repository
    await queue.add('validate-push', { installation, owner, repo, branch: head.branch, sha: head.commit })
  }
  return judgedAt
}

async function judgePull(
  { queue }: WorkerContext,
  installation: number,
  { repository, pull }: FoundPull,
  delayMs: number,
): Promise<void> {
  const data = { installation, owner: repository.owner, repo: repository.name, pull: pull.number }
  await queue.add('validate-pull-request', data, { delayMs })
}

const nameOf = ({ repository, pull }: FoundPull) => `${repository.id}#${pull.number}`
