import { createHash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { JobName, Jobs } from './queue.ts'

/**
 * What makes two jobs equal: every value of their data, in a fixed order, owner and repository without case (as on
 * GitHub). Hashed, because BullMQ forbids ":" in ids and because branch names are as long as their authors like.
 */
export function jobKey<N extends JobName>(name: N, data: Jobs[N]): string {
  const parts = Object.entries(data)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, value]) => [field, field === 'owner' || field === 'repo' ? String(value).toLowerCase() : value])
  return sha256(JSON.stringify([name, parts])).slice(0, 40)
}

/** The queue that a job of this name and data waits in: one per name, for `reconcile` one per cluster. */
export function queueName(name: JobName, cluster: string | undefined): string {
  if (name !== 'reconcile') return name
  if (!cluster) throw new BailiwickError('internal', 'reconcile job: the cluster is missing')
  return `reconcile-${sha256(cluster).slice(0, 16)}`
}

/** The cluster that a job is about, where it is about one. */
export function clusterOf<N extends JobName>(name: N, data: Jobs[N]): string | undefined {
  return name === 'reconcile' ? (data as Jobs['reconcile']).cluster : undefined
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
