import { BailiwickError } from '../../base/errors.ts'
import { assertSiteKeys, readWorkerKeys } from '../../cluster/channel/worker-keys.ts'
import { type ClusterBinding, readClustersFile } from '../../cluster/clusters-file.ts'
import {
  type ClusterWorkerConfig,
  type Config,
  readClusterWorkerConfig,
  readConfig,
  readWorkerConfig,
} from '../../config.ts'
import { openAppKey } from '../../github/client/open-app-key.ts'
import type { Environment } from '../../process/environment.ts'
import type { Log } from '../../process/log.ts'
import { askRedis, openRedisCheck } from '../../process/redis.ts'
import { exitOnRefusal } from '../../process/run-process.ts'
import { problemsOf } from '../../process/settings.ts'
import { diagnoseGithub } from './diagnose-github.ts'
import { diagnosePublicUrl } from './diagnose-reach.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** The process that the settings are for. */
type Role = 'web' | 'worker'

/** All checks of an installation: the settings and, if these are valid, the services that they name. */
export async function diagnose(env: Environment, role: Role): Promise<Diagnosis[]> {
  if (role === 'worker' && env.WORKER_CLUSTERS !== undefined) {
    return checked(env, one => readClusterWorkerConfig(one) as ClusterWorkerConfig, diagnoseOwnClusters)
  }
  return checked<Config>(env, role === 'web' ? readConfig : readWorkerConfig, config =>
    diagnoseConfig(config, role, true),
  )
}

async function checked<T>(
  env: Environment,
  read: (env: Environment) => T,
  services: (config: T) => Promise<Diagnosis[]>,
): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('settings')
  const problems = problemsOf(env, one => read(one))
  if (problems.length > 0) return problems.map(({ message, fix = '' }) => bad('wrong', message, fix))
  return [ok('every setting is valid'), ...(await services(read(env)))]
}

/** Logs a warning for each problem. Never throws, because startup does not depend on it. */
export async function warnOfProblems(config: Config, role: Role, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    for (const { state, check, message, fix } of await diagnoseConfig(config, role, false))
      if (state === 'weak' || state === 'wrong') log.warn({ check, fix }, message)
  } catch (err) {
    log.warn({ err }, 'the installation could not be checked; bailiwick doctor does the same')
  }
}

async function diagnoseConfig(config: Config, role: Role, isAsked: boolean): Promise<Diagnosis[]> {
  const [bindings, problem] = bindingsOf(config)
  const fleets = [
    ...config.fleets.map(({ repository }) => ({ setting: 'FLEETS', repository })),
    ...bindings.map(({ name, fleet }) => ({ setting: `the cluster ${name} of clusters.yaml`, repository: fleet })),
  ]
  const found = await Promise.all([
    diagnoseGithub(config, fleets, isAsked),
    diagnoseRedis(config.redisUrl),
    problem === undefined ? clustersOf(bindings, config, role) : [problem],
  ])
  return [...diagnosePublicUrl(config), ...found.flat()]
}

/** Of CLUSTERS_FILE, or what is wrong with it. */
function bindingsOf({
  clustersFile,
}: Pick<Config, 'clustersFile'>): [readonly ClusterBinding[], (Diagnosis | undefined)?] {
  if (clustersFile === undefined) return [[]]
  let bindings: readonly ClusterBinding[] = []
  const problem = refusal(() => {
    bindings = readClustersFile(clustersFile)
  })
  return [bindings, problem]
}

/** Why a check of clusters refuses; undefined if it does not. */
function refusal(check: () => void): Diagnosis | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return entriesOf('clusters').bad('wrong', error.message, error.fix ?? '')
  }
}

async function clustersOf(
  bindings: readonly ClusterBinding[],
  { clustersFile: file, redisUrl }: Config,
  role: Role,
): Promise<Diagnosis[]> {
  const { ok } = entriesOf('clusters')
  if (file === undefined) return [ok('CLUSTERS_FILE is not set: fleets are evaluated, nothing is applied')]
  // the web process serves the workers in clusters
  const refused = role === 'web' ? refusal(() => assertSiteKeys(bindings)) : undefined
  const found = refused ? [refused] : []
  // with Redis only workers apply, so only they need to reach clusters
  const isAsked = role === 'worker' || redisUrl === undefined
  const listed = `${file} lists ${bindings.length} ${bindings.length === 1 ? 'cluster' : 'clusters'}`
  if (!isAsked) return [...found, ok(`${listed}; bailiwick doctor --process worker asks them`)]
  // loaded on demand: with Redis the web process never connects to clusters
  const { diagnoseClusters } = await import('./diagnose-clusters.ts')
  return [...found, ok(listed), ...(await diagnoseClusters(bindings))]
}

/** The clusters of a worker that runs in one of them. */
async function diagnoseOwnClusters(config: ClusterWorkerConfig): Promise<Diagnosis[]> {
  const { bad } = entriesOf('clusters')
  const [bindings, unreadable] = bindingsOf(config)
  const problem = unreadable ?? refusal(() => void readWorkerKeys(config.workerKeyFile))
  if (problem) return [problem]
  const own = bindings.filter(({ name, mode }) => mode === 'reconcile' && config.clusters.includes(name))
  const unknown = config.clusters.filter(name => !own.some(one => one.name === name))
  const { diagnoseClusters } = await import('./diagnose-clusters.ts')
  return [
    ...unknown.map(name => {
      const message = `${config.clustersFile} has no cluster ${name} with \`mode: reconcile\``
      return bad('wrong', message, 'Correct WORKER_CLUSTERS, or add the cluster.')
    }),
    ...(await diagnoseClusters(own)),
  ]
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
