import type { WorkerContext } from '../context/worker-context.ts'

/**
 * Enqueues a sweep of every installation, to find work for which an event never arrived or was lost. Throws
 * `github-unavailable`.
 */
export async function sweep({ app, queue }: WorkerContext): Promise<void> {
  for (const { id: installation } of await app.installations()) {
    await queue.add('sweep-installation', { installation })
    await queue.add('survey', { installation })
  }
}
