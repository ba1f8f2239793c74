import type { Log } from '../process/log.ts'
import { MemoryTtlStore } from './memory-shelf.ts'
import { RedisTtlStore } from './redis-shelf.ts'
import type { TtlStore, TtlStoreLimits } from './shelf.ts'

/** Where a store is. Without `redisUrl` in this process. */
interface TtlStoreSettings extends TtlStoreLimits {
  readonly redisUrl: string | undefined
  readonly prefix: string
  readonly name: string
  readonly log: Log
}

/** Opens the TTL store of that name. Redis is connected on first use. */
export function openTtlStore({ redisUrl, ...settings }: TtlStoreSettings): TtlStore {
  return redisUrl === undefined ? new MemoryTtlStore(settings) : new RedisTtlStore({ redisUrl, ...settings })
}
