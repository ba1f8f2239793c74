import { Redis } from 'ioredis'
import { BailiwickError } from '../base/errors.ts'
import type { Log } from './log.ts'
import { askUntilAnswered } from './run-process.ts'

/** A connection for single commands: they fail while Redis is gone, instead of waiting for its return. It opens on first use. */
export function openRedis(url: string, log: Pick<Log, 'warn'>): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000, lazyConnect: true })
  redis.on('error', err => log.warn({ err }, 'Redis connection error'))
  return redis
}

interface Asking {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Redis answered after the start, and cannot be used. */
  readonly onRefused: (error: BailiwickError) => void
  /** First pause between two questions. */
  readonly retryMs?: number
  /** How long an answer counts. */
  readonly answerCountsMs?: number
}

interface RedisCheck {
  /** Rejects while Redis has not answered yet, or could lose jobs as it is configured now. */
  usable(): Promise<void>
}

const ANSWER_COUNTS_MS = 30_000

/**
 * Asks Redis until it answers whether it can keep jobs: version, password, eviction policy. Throws `config` if it cannot. Its policy may
 * change while the process runs (it restarts with another configuration), so `usable` asks again.
 */
export async function openRedisCheck(
  url: string | undefined,
  { log, onRefused, retryMs, answerCountsMs = ANSWER_COUNTS_MS }: Asking,
): Promise<RedisCheck> {
  if (url === undefined) return { usable: async () => undefined }
  const { problem } = await askUntilAnswered({ ask: () => ask(url, log), onRefused, retryMs })
  let answer: { readonly at: number; readonly refusal: BailiwickError | undefined } = {
    at: Date.now(),
    refusal: undefined,
  }
  return {
    usable: async () => {
      if (problem() !== undefined) {
        throw new BailiwickError('queue-unavailable', `Redis has not answered yet: ${problem()}`, { fix: REACH })
      }
      // the queue reports an outage at once
      if (Date.now() - answer.at >= answerCountsMs)
        answer = { at: Date.now(), refusal: await refusalOf(url, log).catch(() => undefined) }
      if (answer.refusal) throw answer.refusal
    },
  }
}

const REACH = 'Check REDIS_URL, and that this machine reaches it.'

/** Undefined if Redis can keep jobs, else why it did not answer. Throws `config` if it cannot. */
async function ask(url: string, log: Asking['log']): Promise<string | undefined> {
  let refusal: BailiwickError | undefined
  try {
    refusal = await refusalOf(url, log)
  } catch (error) {
    log.warn({ err: error }, 'Redis did not answer whether it can keep jobs; not ready until it does')
    return error instanceof Error ? error.message : String(error)
  }
  if (refusal) throw refusal
  log.info('Redis can keep jobs')
  return undefined
}

async function refusalOf(url: string, log: Asking['log']): Promise<BailiwickError | undefined> {
  const { problems } = await askRedis(url, log)
  const wrong = problems.filter(({ state }) => state === 'wrong')
  if (wrong.length === 0) return undefined
  const message = `REDIS_URL: ${wrong.map(one => one.message).join('; ')}`
  return new BailiwickError('config', message, { fix: wrong.map(({ fix }) => fix).join(' ') })
}

/** What is wrong with a Redis for jobs. `wrong`: jobs are lost; `weak`: it works in part; `unknown`: no information. */
interface RedisProblem {
  readonly state: 'wrong' | 'weak' | 'unknown'
  readonly message: string
  readonly fix: string
}

interface RedisFacts {
  readonly version: string
  readonly problems: readonly RedisProblem[]
}

/** The oldest Redis version that supports everything that jobs use: https://docs.bullmq.io/guide/redis-tm-compatibility */
const OLDEST = [6, 2] as const
/** Time limit for a response from Redis. */
const ANSWER_WITHIN_MS = 5_000
const KEEP = 'Set maxmemory-policy to noeviction.'
/** What Redis answers to a user or password that it does not accept. */
const NOT_ACCEPTED = /^(?:NOAUTH|WRONGPASS|ERR invalid password|ERR AUTH )/

/**
 * Asks Redis for its version, eviction policy and durability. A refused password, or a user who may not ask, is a problem; throws if
 * Redis does not answer.
 */
export async function askRedis(url: string, log: Pick<Log, 'warn'>): Promise<RedisFacts> {
  const redis = openRedis(url, log)
  try {
    const info = await within(redis.info())
    const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
    const version = value('redis_version') ?? 'unknown'
    const policy = value('maxmemory_policy')
    return { version, problems: [...ofVersion(version), ...ofPolicy(policy), ...ofFile(value('aof_enabled') === '1')] }
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (NOT_ACCEPTED.test(message)) return { version: 'unknown', problems: [PASSWORD] }
    if (message.startsWith('NOPERM')) return { version: 'unknown', problems: [INFO] }
    throw error
  } finally {
    redis.disconnect()
  }
}

const PASSWORD: RedisProblem = {
  state: 'wrong',
  message: 'Redis does not accept the user or password of REDIS_URL',
  fix: 'Write the user and password of that Redis into REDIS_URL: redis://USER:PASSWORD@HOST:PORT.',
}

const INFO: RedisProblem = {
  state: 'unknown',
  message: 'the user of REDIS_URL may not run INFO: version and eviction policy of Redis are unknown',
  fix: 'Grant the user the command INFO (ACL SETUSER ... +info).',
}

function ofVersion(version: string): RedisProblem[] {
  const [major = Number.NaN, minor = 0] = version.split('.').map(Number)
  if (Number.isNaN(major)) {
    return [
      { state: 'unknown', message: 'Redis does not tell its version', fix: `Use Redis ${OLDEST.join('.')} or newer.` },
    ]
  }
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
  const fix = `Use Redis ${OLDEST.join('.')} or newer, or Valkey.`
  return isOld ? [{ state: 'wrong', message: `Redis ${version} is too old`, fix }] : []
}

/** Jobs have no expiry time, locks and kept pages have one: a volatile policy deletes only these. */
function ofPolicy(policy: string | undefined): RedisProblem[] {
  if (policy === 'noeviction') return []
  if (policy === undefined) {
    return [{ state: 'unknown', message: 'Redis does not tell its eviction policy', fix: KEEP }]
  }
  if (policy.startsWith('volatile-')) {
    const message = `the eviction policy of Redis is ${policy}: when memory is full, it deletes locks, so that two workers do the same job`
    return [{ state: 'weak', message, fix: KEEP }]
  }
  const message = `the eviction policy of Redis is ${policy}: when memory is full, it deletes jobs, and their verdicts are never published`
  return [{ state: 'wrong', message, fix: KEEP }]
}

function ofFile(isKept: boolean): RedisProblem[] {
  const message = 'Redis has no append-only file: a restart loses jobs until the next sweep'
  return isKept ? [] : [{ state: 'weak', message, fix: 'Set appendonly to yes.' }]
}

function within<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`)), ANSWER_WITHIN_MS)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}
