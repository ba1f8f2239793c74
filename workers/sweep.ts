import { listOpenPullRequests } from '../src/github/pull-request.ts'
import { githubInstallation } from './combination/github-installation.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Finds work that nobody promised any more: after a start every open pull request onto a default branch is judged again
 * (saying the same twice writes once) and every bound cluster looked after.
 */
export async function sweep(context: WorkerContext): Promise<void> {
  for (const { name, mode } of context.bindings) {
    if (mode === 'reconcile') await context.queue.add('reconcile', { cluster: name })
  }
  for (const { id } of await context.app.installations()) {
    const octokit = await context.app.client(id)
    for (const { owner, name, defaultBranch } of await githubInstallation(context, id, octokit).repositories()) {
      for (const pull of await listOpenPullRequests(octokit, { owner, repo: name }, defaultBranch)) {
        const { number } = pull
        await context.queue.add('validate-pull-request', { installation: id, owner, repo: name, pull: number })
      }
    }
  }
}
