import type { OpenQueue } from '../queue/queue.ts'
import { Metrics } from './metrics.ts'

/** The metrics of a process, and how they are had: by who knows the token, and by nobody where there is none. */
export function openMetrics({ metricsToken: token }: { readonly metricsToken: string | undefined }, queue: OpenQueue) {
  const metrics = new Metrics({ ofProcess: token !== undefined })
  metrics.watchQueue(() => queue.depths())
  return { metrics, access: token === undefined ? undefined : { token, render: () => metrics.render() } }
}
