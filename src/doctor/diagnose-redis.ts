import { openRedis } from '../process/open-redis.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** The oldest Redis version that supports everything that jobs use: https://docs.bullmq.io/guide/redis-tm-compatibility */
const OLDEST = [6, 2] as const
/** Time limit for a response from Redis. */
const ANSWER_WITHIN_MS = 5_000

/** Checks the version, eviction policy and durability of Redis. */
export async function diagnoseRedis(url: string | undefined): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('redis')
  if (url === undefined) return [ok('REDIS_URL is not set: jobs are kept in the web process')]
  const errors: unknown[] = []
  const redis = openRedis(url, { warn: (about: object) => void errors.push(about) } as Parameters<typeof openRedis>[1])
  try {
    const info = await within(redis.info())
    const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
    const version = value('redis_version') ?? 'unknown'
    const [major = 0, minor = 0] = version.split('.').map(Number)
    const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
    const policy = value('maxmemory_policy')
    const isKept = value('aof_enabled') === '1'
    return [
      isOld
        ? bad('wrong', `Redis ${version} is too old`, `Use Redis ${OLDEST.join('.')} or newer, or Valkey.`)
        : ok(`Redis ${version}`),
      ...(policy === undefined || policy === 'noeviction'
        ? []
        : [bad('wrong', `its policy is ${policy}: it may discard jobs`, 'Set maxmemory-policy to noeviction.')]),
      ...(isKept
        ? []
        : [
            bad(
              'weak',
              'it has no append-only file: a restart loses jobs until the next sweep',
              'Set appendonly to yes.',
            ),
          ]),
    ]
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    return [
      bad(
        'wrong',
        `Redis does not answer: ${what}`,
        'Check REDIS_URL, its password, and that this machine reaches it.',
      ),
    ]
  } finally {
    redis.disconnect()
  }
}

function within<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`)), ANSWER_WITHIN_MS)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}
