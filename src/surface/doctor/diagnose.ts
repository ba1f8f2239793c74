import { BailiwickError } from '../../base/errors.ts'
import { readClustersFile } from '../../cluster/clusters-file.ts'
import { type Config, readConfig, readWorkerConfig } from '../../config.ts'
import { openAppKey } from '../../github/client/open-app-key.ts'
import type { Environment } from '../../process/environment.ts'
import type { Log } from '../../process/log.ts'
import { askRedis, openRedisCheck } from '../../process/redis.ts'
import { exitOnRefusal } from '../../process/run-process.ts'
import { problemsOf } from '../../process/settings.ts'
import { type Diagnosis, diagnoseGithub, entriesOf } from './diagnose-github.ts'

/** The process that the settings are for. */
type Role = 'web' | 'worker'

/** All checks of an installation: the settings and, if these are valid, the services that they name. Writes nothing. */
export async function diagnose(env: Environment, role: Role): Promise<Diagnosis[]> {
  const read = role === 'web' ? readConfig : readWorkerConfig
  const { ok, bad } = entriesOf('settings')
  const problems = problemsOf(env, one => read(one))
  if (problems.length > 0) return problems.map(({ message, fix = '' }) => bad('wrong', message, fix))
  return [ok('every setting is valid'), ...(await diagnoseConfig(read(env), role))]
}

/** Logs a warning for each problem. Never throws, because startup does not depend on it. */
export async function warnOfProblems(config: Config, role: Role, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    for (const { state, check, message, fix } of await diagnoseConfig(config, role))
      if (state === 'weak' || state === 'wrong') log.warn({ check, fix }, message)
  } catch (err) {
    log.warn({ err }, 'the installation could not be checked; bailiwick doctor does the same')
  }
}

async function diagnoseConfig(config: Config, role: Role): Promise<Diagnosis[]> {
  const found = await Promise.all([diagnoseGithub(config), diagnoseRedis(config.redisUrl), clustersOf(config, role)])
  return found.flat()
}

async function clustersOf({ clustersFile: file, redisUrl }: Config, role: Role): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('clusters')
  if (file === undefined) return [ok('CLUSTERS_FILE is not set: fleets are evaluated, nothing is applied')]
  try {
    const bindings = readClustersFile(file)
    // with Redis only workers apply, so only they need to reach clusters
    const isAsked = role === 'worker' || redisUrl === undefined
    const listed = `${file} lists ${bindings.length} ${bindings.length === 1 ? 'cluster' : 'clusters'}`
    if (!isAsked) return [ok(`${listed}; bailiwick doctor --process worker asks them`)]
    // loaded on demand: with Redis the web process never connects to clusters
    const { diagnoseClusters } = await import('./diagnose-clusters.ts')
    return [ok(listed), ...(await diagnoseClusters(bindings))]
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return [bad('wrong', error.message, error.fix ?? '')]
  }
}

/** Checks the version, eviction policy and durability of Redis. */
async function diagnoseRedis(url: string | undefined): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('redis')
  if (url === undefined) return [ok('REDIS_URL is not set: jobs are kept in the web process')]
  try {
    const { version, problems } = await askRedis(url, { warn: () => undefined })
    const found = problems.map(({ state, message, fix }) => bad(state, message, fix))
    return version === 'unknown' ? found : [ok(`Redis ${version}`), ...found]
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const fix = 'Check REDIS_URL, and that this machine reaches it.'
    return [bad('wrong', `Redis does not answer: ${what}`, fix)]
  }
}

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
