import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import { listOurCheckRuns } from '../../src/github/checks.ts'
import { listOpenPullRequests, listPullRequestsOf, readPullRequest } from '../../src/github/pull-request.ts'
import type { EvaluateCommit, EvaluateFollowers } from '../../src/receive/queue.ts'
import { readFleets } from '../fleets/evaluate-revision-set.ts'
import { openRepository } from '../fleets/github-installation.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import { dropPull } from '../gate/keep-pages.ts'
import { openPlace } from '../gate/publish-verdict.ts'
import { isUnasked, supersedeRuns } from '../gate/settle.ts'

/** Enqueues an evaluation of every open pull request with this head commit. Doing it twice has no further effect. */
export async function evaluateCommit(context: WorkerContext, data: EvaluateCommit): Promise<void> {
  const { installation, owner, repo, sha } = data
  if (data.closed !== undefined) await dropPull(context, data, data.closed)
  const octokit = await context.app.reader(installation)
  const pulls = await listPullRequestsOf(octokit, { owner, repo }, sha)
  const asked = data.rerun ? { rerun: data.rerun } : {}
  for (const { number: pull } of pulls) {
    await context.queue.add('validate-pull-request', { installation, owner, repo, pull, ...asked })
  }
  if (pulls.length === 0) await takeBack(context, data)
}

/** Renames the runs of a closed pull request, so that a reopened one waits for a verdict on its base at that time. */
async function takeBack(context: WorkerContext, data: EvaluateCommit): Promise<void> {
  if (data.closed === undefined) return
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest(octokit, data, data.closed)
  if (!pull || pull.state === 'open' || pull.merged) return
  const subject = await openRepository(context, data, octokit)
  if (!subject || subject.repository.archived) return
  const place = await openPlace(context, data, subject.repository.id)
  await supersedeRuns(
    async () => place,
    await listOurCheckRuns(octokit, place.app, data, data.sha),
    run => isUnasked(run, []),
  )
}

const BRANCH = 'refs/heads/'
/** Delay between the evaluations of pull requests after a branch is deleted. */
const SPREAD_MS = 300
const LATEST_MS = 60_000

/**
 * Enqueues an evaluation of the fleets that follow a tag or branch that moved or was deleted. If a branch is deleted,
 * GitHub retargets its pull requests without an event, so pull requests into followed branches are evaluated again.
 */
export async function evaluateFollowers(context: WorkerContext, data: EvaluateFollowers): Promise<void> {
  const { installation: id, owner, repo, ref } = data
  const subject = await openRepository(context, data)
  if (!subject) return
  const { installation, repository, octokit } = subject
  const followed = new Set<string>()
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    if (place.repository.url === repository.url) followed.add(place.branch)
    const own = sources.filter(source => source.url === repository.url)
    for (const { ref } of own) if (isBranch(ref)) followed.add(branchOf(ref))
    if (!own.some(source => mayMean(source.ref, ref))) continue
    const { owner, name: repo } = place.repository
    await context.queue.add('validate-push', { installation: id, owner, repo, branch: place.branch, sha })
  }
  if (!ref.startsWith(BRANCH)) return
  await context.queue.add('settle-checks', { installation: id, owner, repo })
  if (followed.size === 0) return
  const open = await listOpenPullRequests(octokit, { owner, repo })
  const led = open.filter(({ base }) => followed.has(base.ref))
  for (const [index, { number: pull }] of led.entries()) {
    const delayMs = Math.min(index * SPREAD_MS, LATEST_MS)
    await context.queue.add('validate-pull-request', { installation: id, owner, repo, pull }, { delayMs })
  }
}

/** Whether what a source follows may lead to this full name of a ref. A range of versions may lead to any tag. */
function mayMean(followed: SourceRef, ref: string): boolean {
  if (followed.commit) return false
  if (followed.name) return followed.name === ref
  if (followed.semver) return ref.startsWith('refs/tags/')
  if (followed.tag) return ref === `refs/tags/${followed.tag}`
  return ref === `${BRANCH}${branchOf(followed)}`
}

const isBranch = ({ commit, name, semver, tag }: SourceRef) => !commit && !name && !semver && !tag

const branchOf = ({ branch }: SourceRef) => branch || 'master'
