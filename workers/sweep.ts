import type { Octokit } from '../src/github/octokit.ts'
import { listOpenPullRequests } from '../src/github/pull-request.ts'
import { fleetPlaces } from './combination/fleet-places.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { Installation, ReadableRepository } from './combination/installation.ts'
import { type FleetPlace, judgeCombination } from './combination/judge-combination.ts'
import { isPinned, type Pin, SourceReader } from './combination/source-reader.ts'
import { isPassing } from './job-error.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Finds work that nobody promised any more: what a fleet follows is judged as it stands now (which has its pull requests
 * judged and its clusters looked after), and so is every other open pull request onto a default branch. Saying the same
 * twice writes once. Throws `github-unavailable`: run it again.
 */
export async function sweep(context: WorkerContext): Promise<void> {
  for (const { id } of await context.app.installations()) {
    const octokit = await context.app.client(id)
    const installation = githubInstallation(context, id, octokit)
    const followed = await followedHeads(context, installation)
    for (const repository of await installation.repositories()) {
      const { owner, name: repo, url, defaultBranch } = repository
      const heads = followed.filter(head => head.url === url)
      for (const { branch, commit: sha } of heads) {
        await context.queue.add('validate-push', { installation: id, owner, repo, branch, sha })
      }
      if (!heads.some(head => head.branch === defaultBranch)) await addPullRequests(context, id, octokit, repository)
    }
  }
}

/** Every branch that a fleet of the installation reads, the fleet's own included, at the commit that it has now. */
async function followedHeads(context: WorkerContext, installation: Installation): Promise<Pin[]> {
  const heads = new Map<string, Pin>()
  for (const place of await fleetPlaces(installation, context.bindings)) {
    for (const head of await headsOf(context, installation, place)) heads.set(`${head.url} ${head.branch}`, head)
  }
  return [...heads.values()]
}

async function headsOf(context: WorkerContext, installation: Installation, fleet: FleetPlace): Promise<Pin[]> {
  const { evaluator, disabledRules } = context
  try {
    const judged = await judgeCombination(evaluator, new SourceReader(installation), { fleet, disabledRules })
    const own = { url: fleet.repository.url, branch: fleet.branch, commit: judged.fleetCommit }
    const followed = judged.sources.flatMap(source => {
      if (!('commit' in source)) return []
      const pin = { url: source.url, branch: source.ref.branch ?? '', commit: source.commit }
      return isPinned(source, pin) ? [pin] : []
    })
    return [own, ...followed]
  } catch (error) {
    if (isPassing(error)) throw error
    context.log.warn({ err: error, fleet: fleet.repository.url }, 'the sources of a fleet could not be found')
    return []
  }
}

async function addPullRequests(
  { queue }: WorkerContext,
  installation: number,
  octokit: Octokit,
  { owner, name: repo, defaultBranch }: ReadableRepository,
): Promise<void> {
  for (const { number: pull } of await listOpenPullRequests(octokit, { owner, repo }, defaultBranch)) {
    await queue.add('validate-pull-request', { installation, owner, repo, pull })
  }
}
