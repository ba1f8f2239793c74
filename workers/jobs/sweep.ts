import type { WorkerContext } from '../context/worker-context.ts'

/** Has every installation looked at as a whole: what no event, or a lost one, promised. Throws `github-unavailable`. */
export async function sweep({ app, queue }: WorkerContext): Promise<void> {
  for (const { id: installation } of await app.installations()) {
    await queue.add('sweep-installation', { installation })
    await queue.add('survey', { installation })
  }
}
