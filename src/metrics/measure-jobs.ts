import type { Queue } from '../queue/queue.ts'
import type { Metrics } from './metrics.ts'

/** The jobs at whose end a verdict stands on GitHub. */
const VERDICTS = new Set(['validate-pull-request', 'validate-push', 'validate-merge-group'])

/** The same queue, with how long its jobs run and how they end written down. */
export function measureJobs(queue: Queue, metrics: Metrics): Queue {
  return {
    add: (name, data, options) => queue.add(name, data, options),
    repeat: (name, data, everyMs) => queue.repeat(name, data, everyMs),
    withLock: (key, work) => queue.withLock(key, work),
    entries: key => queue.entries(key),
    idle: () => queue.idle(),
    close: graceMs => queue.close(graceMs),
    work: (name, handler, options) =>
      queue.work(
        name,
        async (data, attempt) => {
          const started = performance.now()
          let outcome: 'done' | 'failed' = 'failed'
          try {
            await handler(data, attempt)
            outcome = 'done'
          } finally {
            metrics.jobDone(name, outcome, (performance.now() - started) / 1_000)
          }
          const { addedAt } = attempt
          if (addedAt !== undefined && VERDICTS.has(name))
            metrics.verdictPublished(name, (Date.now() - addedAt) / 1_000)
        },
        options,
      ),
  }
}
