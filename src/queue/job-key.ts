import { createHash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { JobName, Jobs } from './queue.ts'

/**
 * The key of a job: a hash of all its data in a fixed order, with owner and repository in lower case (as on GitHub).
 * Hashed because BullMQ forbids ":" in ids and branch names can be long.
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

/** The cluster of a job, if it has one. */
export function clusterOf<N extends JobName>(name: N, data: Jobs[N]): string | undefined {
  return name === 'reconcile' ? (data as Jobs['reconcile']).cluster : undefined
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
