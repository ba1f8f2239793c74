import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { hostname } from 'node:os'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ContentToken } from '../../src/cluster/channel/cluster-work.ts'
import { openWebClient, type WebClient } from '../../src/cluster/channel/web-client.ts'
import { readWorkerKeys } from '../../src/cluster/channel/worker-keys.ts'
import { type ClusterBinding, readClustersFile } from '../../src/cluster/clusters-file.ts'
import type { LeaseTiming } from '../../src/cluster/lease.ts'
import { openRegistry } from '../../src/cluster/registry.ts'
import type { ClusterWorkerConfig } from '../../src/config.ts'
import { ObjectStore } from '../../src/git/object-store.ts'
import { openTokenClient } from '../../src/github/client/client-class.ts'
import { type Log, startLog } from '../../src/process/log.ts'
import { stopOnSignal } from '../../src/process/run-process.ts'
import { startServer } from '../../src/surface/web/server.ts'
import { Evaluator } from '../fleets/evaluator.ts'
import { serveCluster } from './serve-cluster.ts'

/** Serves the clusters of a worker in a cluster until the process is stopped. Throws `config`. */
export async function runInCluster(config: ClusterWorkerConfig): Promise<void> {
  const log = startLog(config.logLevel, 'worker in a cluster')
  const { host, port } = config
  const workers = startClusterWorkers({
    config,
    log,
    onEnd: err => {
      log.error({ err }, 'cluster cannot be served')
      process.exit(2)
    },
  })
  const server = await startServer({
    host,
    port,
    ready: () => workers.ready(),
    notReady: 'the log has the reason',
    log,
  })
  stopOnSignal(log, async () => {
    await server.close(1_000)
    await workers.close()
  })
  log.info({ health: `${server.url}/readyz`, clusters: config.clusters }, 'working')
}

interface Dependencies {
  readonly config: ClusterWorkerConfig
  readonly log: Log
  /** Of its Leases; as Flux's by default. */
  readonly timing?: LeaseTiming
  /** How often at most changes are reported; 10 s by default, as on a worker of the site. */
  readonly reportMs?: number
  /** An error that ends the service of a cluster for good: the process should end, too. */
  readonly onEnd: (error: unknown) => void
}

interface ClusterWorkers {
  /** Rejects, naming the reason, while a cluster cannot be served. */
  ready(): Promise<void>
  /** Stops applying, and releases the Leases. */
  close(): Promise<void>
}

const REPORT_MS = 10_000

/** Serves the clusters of WORKER_CLUSTERS from inside. Throws `config` for what clusters.yaml lacks. */
export function startClusterWorkers({
  config,
  log,
  timing,
  reportMs = REPORT_MS,
  onEnd,
}: Dependencies): ClusterWorkers {
  const bindings = bindingsOf(config, log)
  for (const binding of bindings) assertFiles(binding, config.clustersFile)
  const { renderTimeoutMs: timeoutMs, renderHeapMb: heapMb, renderThreads: threads } = config
  const evaluator = new Evaluator({ timeoutMs, heapMb, threads })
  const store = ObjectStore.on(config)
  const registry = openRegistry(config.registries)
  const web = openWebClient({ url: config.webUrl, keyFile: config.workerKeyFile })
  const stop = new AbortController()
  const problems = new Map<string, string>()
  // the same for all replicas, so that each knows what another one applied
  const valuesKey = readWorkerKeys(config.workerKeyFile)[0]
  const identity = `${hostname()}_${randomUUID()}`
  const served = bindings.map(binding => {
    const tokens = new SourceTokens(web, binding.name)
    const octokit = (repository: number) =>
      openTokenClient(
        { baseUrl: config.githubApiUrl, log },
        { token: () => tokens.of(repository), refused: token => tokens.forget(token) },
      )
    return serveCluster(
      {
        binding,
        web,
        tools: { evaluator, store, registry, octokit, log, valuesKey },
        resyncSeconds: config.resyncSeconds,
        pollMs: config.pollSeconds * 1000,
        reportMs,
        identity,
        ...(timing ? { timing } : {}),
        log,
        onState: problem => {
          if (problem === undefined) problems.delete(binding.name)
          else problems.set(binding.name, problem)
        },
      },
      stop.signal,
    ).catch(onEnd)
  })
  return {
    ready: async () => {
      const [first] = problems
      if (first) throw new BailiwickError('cluster-unavailable', `${first[0]}: ${first[1]}`)
    },
    close: async () => {
      stop.abort()
      await Promise.all(served)
      await evaluator.close()
    },
  }
}

function bindingsOf({ clusters, clustersFile }: ClusterWorkerConfig, log: Log): readonly ClusterBinding[] {
  const all = readClustersFile(clustersFile, text => log.warn(text))
  const bindings = clusters.map(name => {
    const found = all.find(one => one.name === name && one.mode === 'reconcile')
    if (found) return found
    throw new BailiwickError('config', `${clustersFile} has no cluster ${name} with \`mode: reconcile\``, {
      fix: 'Correct WORKER_CLUSTERS, or add the cluster.',
    })
  })
  const here = bindings.filter(({ kubeconfig }) => kubeconfig === undefined)
  if (here.length <= 1) return bindings
  const names = here.map(({ name }) => name).join(' and ')
  throw new BailiwickError('config', `${names} are the same cluster: without kubeconfig each is the one of this pod`, {
    fix: 'Name one of them in WORKER_CLUSTERS.',
  })
}

/**
 * Throws `config` for a file of `kubeConfigs` or `kmsKeys` that cannot be read at startup: later, only the
 * Kustomizations that need it would report it.
 */
export function assertFiles({ name, kubeConfigs = [], kmsKeys = [] }: ClusterBinding, clustersFile: string): void {
  const files = [
    ...kubeConfigs.map(({ ca }, at) => [`kubeConfigs[${at}].ca`, ca] as const),
    ...kmsKeys.flatMap(({ credentials }, at) =>
      Object.entries(credentials).flatMap(([key, value]) =>
        key === 'file' || key.endsWith('File') ? [[`kmsKeys[${at}]`, value] as const] : [],
      ),
    ),
  ]
  for (const [key, file] of files) {
    if (isReadable(file)) continue
    throw new BailiwickError('config', `${clustersFile}: ${key} of ${name} names ${file}, which cannot be read`, {
      fix: 'Put the file into the Secret bailiwick-worker-files, which deploy/worker mounts at /etc/bailiwick/files.',
    })
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** A token that expires sooner is not used. */
const LASTS_MS = 300_000

/** The tokens that read the sources of a cluster, as the web process gives them; in memory only. */
class SourceTokens {
  readonly #web: Pick<WebClient, 'tokens'>
  readonly #cluster: string
  #tokens: readonly ContentToken[] = []
  #command: Promise<void> | undefined

  constructor(web: Pick<WebClient, 'tokens'>, cluster: string) {
    this.#web = web
    this.#cluster = cluster
  }

  /** Throws `source-unreadable` for a repository that is not a source of the cluster, and like the web process. */
  async of(repository: number): Promise<string> {
    if (!this.#find(repository)) {
      this.#command ??= this.#ask().finally(() => {
        this.#command = undefined
      })
      await this.#command
    }
    const found = this.#find(repository)
    if (found) return found.token
    throw new BailiwickError('source-unreadable', `the web process gives no token for the repository ${repository}`)
  }

  /** Forgets a token that GitHub rejects, so that a new one is requested. */
  forget(token: string): void {
    this.#tokens = this.#tokens.filter(one => one.token !== token)
  }

  #find(repository: number): ContentToken | undefined {
    return this.#tokens.find(
      ({ repositories, expiresAt }) =>
        repositories.includes(repository) && Date.parse(expiresAt) - LASTS_MS > Date.now(),
    )
  }

  async #ask(): Promise<void> {
    this.#tokens = await this.#web.tokens(this.#cluster)
  }
}
