import { hash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { openRedis } from '../process/redis.ts'
import type { TrailDecision, WrittenEnd } from '../verdict/trail-entry.ts'

/** The fleet repository whose trail it is. */
interface TrailPlace {
  readonly installation: number
  readonly owner: string
  readonly repo: string
}

/** Decisions that wait to be written, the oldest first. */
interface WaitingDecisions {
  readonly decisions: readonly TrailDecision[]
  /** Decisions that came when too many were waiting: they are counted only. */
  readonly lost: number
}

/** More decisions of one fleet than this do not wait: the branch cannot be written for a long time. */
export const MAX_WAITING = 10_000

/** After this time, an action with the same id counts as a new one. */
const ONCE_SECONDS = 30 * 86_400

/**
 * Decisions on their way to the trail of their fleet, and how far each trail has come. What is added stays until it is
 * removed, and survives restarts where the store does.
 */
export interface Outbox {
  /** `once`: adds the decision only if none with its id was added within `ONCE_SECONDS`. Returns false if one was. */
  add(place: TrailPlace, decision: TrailDecision, once?: boolean): Promise<boolean>
  waiting(place: TrailPlace, most: number): Promise<WaitingDecisions>
  /** Takes the oldest decisions away, which the trail now has up to `head`. */
  written(
    place: TrailPlace,
    done: { readonly count: number; readonly lost: number; readonly head: WrittenEnd },
  ): Promise<void>
  /** The last entry that was written; undefined where none is known. */
  head(place: TrailPlace): Promise<WrittenEnd | undefined>
  /** Records the incident that stopped a trail; undefined: the trail continues. */
  stop(place: TrailPlace, incident: string | undefined): Promise<void>
  /** The incident that stopped the trail; undefined if decisions are being written. */
  stopped(place: TrailPlace): Promise<string | undefined>
  close(): Promise<void>
}

/** GitHub's names ignore case. */
const placeKey = ({ installation, owner, repo }: TrailPlace): string => `${installation}:${owner}/${repo}`.toLowerCase()

/** Opens the outbox: on Redis, shared by all processes, or in this process, like the queue. */
export function openOutbox({ redisUrl }: { readonly redisUrl: string | undefined }, log: Log): Outbox {
  return redisUrl === undefined ? new MemoryOutbox() : new RedisOutbox({ redisUrl, log })
}

interface Waiting {
  decisions: TrailDecision[]
  lost: number
  head: WrittenEnd | undefined
  stopped: string | undefined
  readonly once: Set<string>
}

/** Number of ids to remember; the oldest are dropped. */
const MAX_ONCE = 10_000

function remember(ids: Set<string>, id: string): void {
  ids.add(id)
  const [oldest] = ids
  if (ids.size > MAX_ONCE && oldest !== undefined) ids.delete(oldest)
}

/** An outbox in the memory of this process. */
class MemoryOutbox implements Outbox {
  readonly #places = new Map<string, Waiting>()

  async add(place: TrailPlace, decision: TrailDecision, once = false): Promise<boolean> {
    const at = this.#at(place)
    if (once && at.once.has(decision.id)) return false
    if (once) remember(at.once, decision.id)
    if (at.decisions.length < MAX_WAITING) at.decisions.push(decision)
    else at.lost += 1
    return true
  }

  async waiting(place: TrailPlace, most: number): Promise<WaitingDecisions> {
    const { decisions, lost } = this.#at(place)
    return { decisions: decisions.slice(0, most), lost }
  }

  async written(place: TrailPlace, done: { count: number; lost: number; head: WrittenEnd }): Promise<void> {
    const at = this.#at(place)
    at.decisions = at.decisions.slice(done.count)
    at.lost -= done.lost
    at.head = done.head
  }

  async head(place: TrailPlace): Promise<WrittenEnd | undefined> {
    return this.#at(place).head
  }

  async stop(place: TrailPlace, incident: string | undefined): Promise<void> {
    this.#at(place).stopped = incident
  }

  async stopped(place: TrailPlace): Promise<string | undefined> {
    return this.#at(place).stopped
  }

  async close(): Promise<void> {}

  #at(place: TrailPlace): Waiting {
    const key = placeKey(place)
    const fresh = { decisions: [], lost: 0, head: undefined, stopped: undefined, once: new Set<string>() }
    const known = this.#places.get(key) ?? fresh
    this.#places.set(key, known)
    return known
  }
}

// KEYS: list, counter of lost decisions, marker for `once`. ARGV: decision, limit, lifetime of the marker in seconds (0: no marker).
const ADD = `
if ARGV[3] ~= '0' and not redis.call('SET', KEYS[3], '1', 'NX', 'EX', ARGV[3]) then return 0 end
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[2]) then return redis.call('INCR', KEYS[2]) end
return redis.call('RPUSH', KEYS[1], ARGV[1])`

// KEYS: list, count of the lost, head. ARGV: number of written ones, of lost ones that were reported, head.
const WRITTEN = `
redis.call('LTRIM', KEYS[1], ARGV[1], -1)
redis.call('DECRBY', KEYS[2], ARGV[2])
return redis.call('SET', KEYS[3], ARGV[3])`

/** An outbox on Redis, shared by all processes of an installation. */
class RedisOutbox implements Outbox {
  readonly #redis: Redis

  constructor({ redisUrl, log }: { readonly redisUrl: string; readonly log: Log }) {
    this.#redis = openRedis(redisUrl, log)
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
    return `{bailiwick:trail:${placeKey(place)}}`
  }
}
