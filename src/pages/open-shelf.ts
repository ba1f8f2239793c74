import type { Log } from '../process/log.ts'
import { MemoryShelf } from './memory-shelf.ts'
import { RedisShelf } from './redis-shelf.ts'
import type { Shelf, ShelfLimits } from './shelf.ts'

/** Where a shelf stands. Without `redisUrl` in this process. */
interface ShelfSettings extends ShelfLimits {
  readonly redisUrl: string | undefined
  readonly prefix: string
  readonly name: string
  readonly log: Log
}

/** Opens the TTL store of that name. Redis is connected on first use. */
export function openShelf({ redisUrl, ...settings }: ShelfSettings): Shelf {
  return redisUrl === undefined ? new MemoryShelf(settings) : new RedisShelf({ redisUrl, ...settings })
}
