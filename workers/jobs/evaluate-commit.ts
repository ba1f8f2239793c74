import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import { listOurCheckRuns } from '../../src/github/checks.ts'
import { listOpenPullRequests, listPullRequestsOf, readPullRequest } from '../../src/github/pull-request.ts'
import type { Attempt, EvaluateCommit, EvaluateFollowers } from '../../src/receive/queue.ts'
import { readFleets } from '../fleets/evaluate-revision-set.ts'
import { openCase, openWriter } from '../fleets/github-installation.ts'
import type { WorkerContext } from '../fleets/worker-context.ts'
import { dropPull } from '../gate/keep-pages.ts'
import { evaluateSpread, isUnasked, supersedeRuns } from '../gate/settle.ts'

/** Enqueues an evaluation of every open pull request with this head commit. Doing it twice has no further effect. */
export async function evaluateCommit(context: WorkerContext, data: EvaluateCommit, attempt: Attempt): Promise<void> {
  const { installation, owner, repo, sha } = data
  if (data.closed !== undefined) await dropPull(context, data, data.closed)
  const octokit = await context.app.reader(installation)
  const pulls = await listPullRequestsOf({ octokit, owner, repo }, sha)
  const asked = data.rerun ? { rerun: data.rerun } : {}
  for (const { number: pull } of pulls) {
    await context.queue.add('validate-pull-request', { installation, owner, repo, pull, ...asked })
  }
  if (pulls.length === 0) await takeBack(context, data, attempt)
}

/** Renames the runs of a closed pull request, so that a reopened one waits for a verdict on its base at that time. */
async function takeBack(context: WorkerContext, data: EvaluateCommit, attempt: Attempt): Promise<void> {
  if (data.closed === undefined) return
  const octokit = await context.app.reader(data.installation)
  const pull = await readPullRequest({ ...data, octokit }, data.closed)
  if (!pull || pull.state === 'open' || pull.merged) return
  const subject = await openCase(context, data, attempt, octokit)
  if (!subject || subject.repository.archived) return
  const writer = await openWriter(context, data.installation, subject.repository)
  await supersedeRuns(
    async () => writer,
    await listOurCheckRuns(subject, data.sha),
    run => isUnasked(run, []),
  )
}

const BRANCH = 'refs/heads/'

/**
 * Enqueues an evaluation of the fleets that follow a tag or branch that moved or was deleted. If a branch is deleted,
 * GitHub retargets its pull requests without an event, so pull requests into followed branches are evaluated again.
 */
export async function evaluateFollowers(context: WorkerContext, data: EvaluateFollowers, attempt: Attempt) {
  const { installation: id, owner, repo, ref } = data
  const subject = await openCase(context, data, attempt)
  if (!subject) return
  const { installation, repository } = subject
  const followed = new Set<string>()
  for (const { place, commit: sha, sources } of await readFleets(context, installation)) {
    if (place.repository.url === repository.url) followed.add(place.branch)
    const own = sources.filter(source => source.url === repository.url)
    for (const { ref } of own) if (isBranch(ref)) followed.add(branchOf(ref))
    if (!own.some(source => mayMean(source.ref, ref))) continue
    const { owner, repo } = place.repository
    await context.queue.add('validate-push', { installation: id, owner, repo, branch: place.branch, sha })
  }
  if (!ref.startsWith(BRANCH)) return
  await context.queue.add('settle-checks', { installation: id, owner, repo })
  if (followed.size === 0) return
  const led = (await listOpenPullRequests(subject)).filter(({ base }) => followed.has(base.ref))
  await evaluateSpread(
    context,
    data,
    led.map(({ number }) => number),
  )
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
