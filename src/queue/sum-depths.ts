import type { JobName, QueueDepth } from './queue.ts'

type Depth = Partial<Omit<QueueDepth, 'queue'>>

/** Sums queue depths by kind of job; the reconcile queues of all clusters count as one. */
export function sumDepths(queues: readonly (readonly [string, Depth])[]): QueueDepth[] {
  const sums = new Map<JobName, QueueDepth>()
  for (const [id, { waiting = 0, active = 0, delayed = 0, failed = 0 }] of queues) {
    const queue = (id.startsWith('reconcile-') ? 'reconcile' : id) as JobName
    const sum = sums.get(queue) ?? { queue, waiting: 0, active: 0, delayed: 0, failed: 0 }
    sums.set(queue, {
      queue,
      waiting: sum.waiting + waiting,
      active: sum.active + active,
      delayed: sum.delayed + delayed,
      failed: sum.failed + failed,
    })
  }
  return [...sums.values()].sort((a, b) => (a.queue < b.queue ? -1 : 1))
}
