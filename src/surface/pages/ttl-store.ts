import type { Redis } from 'ioredis'
import type { Log } from '../../process/log.ts'
import { openRedis } from '../../process/redis.ts'

/** An item of the list of a store, written along with the item. */
interface TtlStoreNote {
  readonly key: string
  readonly note: string
}

/**
 * A TTL store: it drops expired items, and the oldest ones when it is full. No code may rely on an item being present.
 */
export interface TtlStore {
  /** Stores bytes under a key in place of what was there; `note` is a short text for lists. */
  put(key: string, bytes: Buffer, note?: string): Promise<void>
  get(key: string): Promise<Buffer | undefined>
  delete(key: string): Promise<void>
  /** The newest items first, at most this many. */
  notes(most: number): Promise<readonly TtlStoreNote[]>
  close(): Promise<void>
}

/** Stores a value as JSON. */
export function putJson(store: TtlStore, key: string, value: unknown): Promise<void> {
  return store.put(key, Buffer.from(JSON.stringify(value)))
}

/** What `putJson` stored; undefined if it is not there any more. */
export async function getJson<T>(store: TtlStore, key: string): Promise<T | undefined> {
  const bytes = await store.get(key)
  return bytes && (JSON.parse(bytes.toString('utf8')) as T)
}

/** The lifetime of items in a store, and its size limit. */
export interface TtlStoreLimits {
  readonly ttlMs: number
  /** Of all items together. */
  readonly maxBytes: number
}

/** Where a store is. Without `redisUrl` in this process. */
interface TtlStoreSettings extends TtlStoreLimits {
  readonly redisUrl: string | undefined
  /** First part of every key; another one only in tests. */
  readonly prefix?: string
  /** What it holds: other names are other stores. */
  readonly name: string
  readonly log: Log
}

/** Opens the TTL store of that name. Redis is connected on first use. */
export function openTtlStore({ redisUrl, ...settings }: TtlStoreSettings): TtlStore {
  return redisUrl === undefined ? new MemoryTtlStore(settings) : new RedisTtlStore({ redisUrl, ...settings })
}

interface Item {
  readonly bytes: Buffer
  readonly note: string
  readonly until: number
}

/** A TTL store in the memory of this process. */
export class MemoryTtlStore implements TtlStore {
  readonly #limits: TtlStoreLimits
  /** Oldest first. */
  readonly #items = new Map<string, Item>()
  #held = 0

  constructor(limits: TtlStoreLimits) {
    this.#limits = limits
  }

  async put(key: string, bytes: Buffer, note = ''): Promise<void> {
    this.#drop(key)
    if (bytes.length > this.#limits.maxBytes) return
    this.#items.set(key, { bytes, note, until: Date.now() + this.#limits.ttlMs })
    this.#held += bytes.length
    for (const [oldest, { until }] of this.#items) {
      if (this.#held <= this.#limits.maxBytes && until > Date.now()) break
      this.#drop(oldest)
    }
  }

  async get(key: string): Promise<Buffer | undefined> {
    const item = this.#items.get(key)
    return item && item.until > Date.now() ? item.bytes : undefined
  }

  async delete(key: string): Promise<void> {
    this.#drop(key)
  }

  async notes(most: number): Promise<readonly TtlStoreNote[]> {
    const fresh = [...this.#items].filter(([, { until }]) => until > Date.now())
    return fresh
      .reverse()
      .slice(0, most)
      .map(([key, { note }]) => ({ key, note }))
  }

  async close(): Promise<void> {
    this.#items.clear()
    this.#held = 0
  }

  #drop(key: string): void {
    this.#held -= this.#items.get(key)?.bytes.length ?? 0
    this.#items.delete(key)
  }
}

// KEYS: ages, sizes, notes. ARGV: item's key, name, bytes, note, now, ttl, maxBytes, first part of items' keys.
const PUT = `
local ages, sizes, notes = KEYS[1], KEYS[2], KEYS[3]
local function drop(name)
  redis.call('DEL', ARGV[8] .. name)
  redis.call('ZREM', ages, name)
  redis.call('HDEL', notes, name)
  local size = tonumber(redis.call('HGET', sizes, name) or 0)
  redis.call('HDEL', sizes, name)
  redis.call('HINCRBY', sizes, 'total', 0 - size)
end
drop(ARGV[2])
local now, ttl, most = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local old = redis.call('ZRANGEBYSCORE', ages, '-inf', now - ttl, 'LIMIT', 0, 1000)
for _, name in ipairs(old) do drop(name) end
if #ARGV[3] > most then return 0 end
redis.call('SET', ARGV[1], ARGV[3], 'PX', ttl)
redis.call('ZADD', ages, now, ARGV[2])
redis.call('HSET', sizes, ARGV[2], #ARGV[3])
redis.call('HSET', notes, ARGV[2], ARGV[4])
local total = redis.call('HINCRBY', sizes, 'total', #ARGV[3])
while total > most do
  local oldest = redis.call('ZRANGE', ages, 0, 0)[1]
  if not oldest then break end
  drop(oldest)
  total = tonumber(redis.call('HGET', sizes, 'total'))
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
return 1`

const DROP = `
redis.call('DEL', ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('HINCRBY', KEYS[2], 'total', 0 - tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or 0))
redis.call('HDEL', KEYS[2], ARGV[2])
return redis.call('HDEL', KEYS[3], ARGV[2])`

/**
 * A TTL store on Redis, shared by all processes of an installation. Each change is one script, so concurrent writes
 * keep the counts correct. The braces in its keys keep them on one node of a Redis cluster.
 */
class RedisTtlStore implements TtlStore {
  readonly #redis: Redis
  readonly #base: string
  readonly #limits: TtlStoreLimits

  constructor({ redisUrl, prefix = 'bailiwick', name, log, ...limits }: TtlStoreSettings & { redisUrl: string }) {
    this.#redis = openRedis(redisUrl, log)
    this.#base = `{${prefix}:shelf:${name}}`
    this.#limits = limits
  }

  async put(key: string, bytes: Buffer, note = ''): Promise<void> {
    const { ttlMs, maxBytes } = this.#limits
    const items = `${this.#base}:item:`
    await this.#redis.eval(
      PUT,
      3,
      ...this.#lists,
      `${items}${key}`,
      key,
      bytes,
      note,
      Date.now(),
      ttlMs,
      maxBytes,
      items,
    )
  }

  async get(key: string): Promise<Buffer | undefined> {
    return (await this.#redis.getBuffer(`${this.#base}:item:${key}`)) ?? undefined
  }

  async delete(key: string): Promise<void> {
    await this.#redis.eval(DROP, 3, ...this.#lists, `${this.#base}:item:${key}`, key)
  }

  async notes(most: number): Promise<readonly TtlStoreNote[]> {
    const [ages, , notes] = this.#lists
    const oldest = Date.now() - this.#limits.ttlMs
    const keys = await this.#redis.zrevrangebyscore(ages, '+inf', `(${oldest}`, 'LIMIT', 0, most)
    if (keys.length === 0) return []
    const found = await this.#redis.hmget(notes, ...keys)
    return keys.flatMap((key, at) => {
      const note = found[at]
      return typeof note === 'string' ? [{ key, note }] : []
    })
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  get #lists(): [string, string, string] {
    return [`${this.#base}:ages`, `${this.#base}:sizes`, `${this.#base}:notes`]
  }
}
