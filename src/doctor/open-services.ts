import type { Config } from '../config.ts'
import { openAppKey } from '../github/client/open-app-key.ts'
import { exitOnRefusal } from '../process/exit-on-refusal.ts'
import type { Log } from '../process/log.ts'
import { openRedisCheck } from '../process/open-redis-check.ts'

interface Services {
  /** Rejects while GitHub has not accepted the key of the App, or Redis cannot keep jobs. */
  usable(): Promise<void>
}

/**
 * Asks GitHub and Redis whether they accept the settings. Throws `config` if one refuses them, an AggregateError if both do, and ends
 * the process if one that did not answer refuses them later.
 */
export async function openServices(
  config: Pick<Config, 'appId' | 'privateKey' | 'githubApiUrl' | 'redisUrl'>,
  log: Log,
): Promise<Services> {
  const asking = { log, onRefused: exitOnRefusal(log) }
  const [appKey, redis] = await Promise.allSettled([
    openAppKey(config, asking),
    openRedisCheck(config.redisUrl, asking),
  ])
  if (appKey.status === 'fulfilled' && redis.status === 'fulfilled') {
    return {
      usable: async () => {
        await appKey.value.accepted()
        await redis.value.usable()
      },
    }
  }
  const refusals = [appKey, redis].flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
  throw refusals.length > 1 ? new AggregateError(refusals, 'GitHub and Redis refuse the settings') : refusals[0]
}
