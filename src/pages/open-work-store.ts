import type { Log } from '../process/log.ts'
import { openTtlStore } from './open-shelf.ts'
import { WORK_LIMITS, WorkStore } from './work-store.ts'

/** Opens the store of what is approved for the workers of clusters: on Redis, or in this process, like the queue. */
export function openWorkStore(
  { redisUrl, redisPrefix }: { readonly redisUrl: string | undefined; readonly redisPrefix: string },
  log: Log,
): WorkStore {
  return new WorkStore(openTtlStore({ ...WORK_LIMITS, redisUrl, prefix: redisPrefix, name: 'work', log }))
}
