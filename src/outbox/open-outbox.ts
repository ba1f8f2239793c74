import type { Log } from '../process/log.ts'
import { MemoryOutbox } from './memory-outbox.ts'
import type { Outbox } from './outbox.ts'
import { RedisOutbox } from './redis-outbox.ts'

/** Opens the outbox: on Redis, shared by all processes, or in this process, like the queue. */
export function openOutbox(
  { redisUrl, redisPrefix: prefix }: { readonly redisUrl: string | undefined; readonly redisPrefix: string },
  log: Log,
): Outbox {
  return redisUrl === undefined ? new MemoryOutbox() : new RedisOutbox({ redisUrl, prefix, log })
}
