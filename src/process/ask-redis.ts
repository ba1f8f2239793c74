import type { Log } from './log.ts'
import { openRedis } from './open-redis.ts'

/** What is wrong with a Redis for jobs. `wrong`: jobs are lost; `weak`: it works in part; `unknown`: Redis does not say. */
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
