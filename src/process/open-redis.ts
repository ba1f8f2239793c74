import { Redis } from 'ioredis'
import type { Log } from './log.ts'

/** A connection for single commands: they fail while Redis is gone, instead of waiting for its return. It opens on first use. */
export function openRedis(url: string, log: Pick<Log, 'warn'>): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000, lazyConnect: true })
  redis.on('error', err => log.warn({ err }, 'Redis connection error'))
  return redis
}
