import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import { listOpenPullRequests } from '../../src/github/pulls/pull-request.ts'
import type { EvaluateFollowers } from '../../src/queue/queue.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openRepository } from '../fleets/open-repository.ts'
import { readFleets } from '../fleets/read-fleets.ts'

const BRANCH = 'refs/heads/'
/** A branch that goes leaves many pull requests behind: they start this far apart. */
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
