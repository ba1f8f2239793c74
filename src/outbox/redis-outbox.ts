import { hash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { openRedis } from '../process/open-redis.ts'
import type { TrailDecision, WrittenEnd } from '../trail/trail-entry.ts'
import { MAX_WAITING, ONCE_SECONDS, type Outbox, placeKey, type TrailPlace, type WaitingDecisions } from './outbox.ts'

// KEYS: list, counter of lost decisions, marker for `once`. ARGV: decision, limit, lifetime of the marker in seconds (0: no marker).
const ADD = `
if ARGV[3] ~= '0' and not redis.call('SET', KEYS[3], '1', 'NX', 'EX', ARGV[3]) then return 0 end
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[2]) then return redis.call('INCR', KEYS[2]) end
return redis.call('RPUSH', KEYS[1], ARGV[1])`

// KEYS: list, count of the lost, head. ARGV: number of written ones, of lost ones that were said, head.
const WRITTEN = `
redis.call('LTRIM', KEYS[1], ARGV[1], -1)
redis.call('DECRBY', KEYS[2], ARGV[2])
return redis.call('SET', KEYS[3], ARGV[3])`

/** An outbox on Redis, shared by all processes of an installation. */
export class RedisOutbox implements Outbox {
  readonly #redis: Redis
  readonly #prefix: string

  constructor({ redisUrl, prefix, log }: { readonly redisUrl: string; readonly prefix: string; readonly log: Log }) {
    this.#redis = openRedis(redisUrl, log)
    this.#prefix = prefix
  }

  async add(place: TrailPlace, decision: TrailDecision, once = false): Promise<boolean> {
    const [list, lost] = this.#keys(place)
    const mark = `${this.#base(place)}:once:${hash('sha256', decision.id)}`
    const keys = [list, lost, mark] as const
    const limits = [MAX_WAITING, once ? ONCE_SECONDS : 0] as const
    return (await this.#redis.eval(ADD, keys.length, ...keys, JSON.stringify(decision), ...limits)) !== 0
  }

  async waiting(place: TrailPlace, most: number): Promise<WaitingDecisions> {
    const [list, lost] = this.#keys(place)
    const [texts, count] = await Promise.all([this.#redis.lrange(list, 0, most - 1), this.#redis.get(lost)])
    return { decisions: texts.map(text => JSON.parse(text) as TrailDecision), lost: Number(count ?? 0) }
  }

  async written(place: TrailPlace, done: { count: number; lost: number; head: WrittenEnd }): Promise<void> {
    const [list, lost, head] = this.#keys(place)
    await this.#redis.eval(WRITTEN, 3, list, lost, head, done.count, done.lost, JSON.stringify(done.head))
  }

  async head(place: TrailPlace): Promise<WrittenEnd | undefined> {
    const text = await this.#redis.get(this.#keys(place)[2])
    return text === null ? undefined : (JSON.parse(text) as WrittenEnd)
  }

  async stop(place: TrailPlace, incident: string | undefined): Promise<void> {
    const key = this.#keys(place)[3]
    if (incident === undefined) await this.#redis.del(key)
    else await this.#redis.set(key, incident)
  }

  async stopped(place: TrailPlace): Promise<string | undefined> {
    return (await this.#redis.get(this.#keys(place)[3])) ?? undefined
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  #keys(place: TrailPlace): [list: string, lost: string, head: string, stopped: string] {
    const base = this.#base(place)
    return [`${base}:waiting`, `${base}:lost`, `${base}:head`, `${base}:stopped`]
  }

  /** Braces keep all keys in one slot of a Redis cluster. */
  #base(place: TrailPlace): string {
    return `{${this.#prefix}:trail:${placeKey(place)}}`
  }
}
