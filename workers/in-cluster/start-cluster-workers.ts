import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { openWebClient, readWorkerKeys } from '../../src/channel/web-client.ts'
import { type ClusterBinding, readClustersFile } from '../../src/cluster/clusters-file.ts'
import type { LeaseTiming } from '../../src/cluster/lease/lease-election.ts'
import type { ClusterWorkerConfig } from '../../src/config.ts'
import { BailiwickError } from '../../src/errors.ts'
import { ObjectStore } from '../../src/git/object-store.ts'
import { openTokenClient } from '../../src/github/client/token-client.ts'
import { openRegistry } from '../../src/oci/registry.ts'
import type { Log } from '../../src/process/log.ts'
import { Evaluator } from '../threads/evaluator.ts'
import { assertFiles } from './assert-files.ts'
import { serveCluster } from './serve-cluster.ts'
import { SourceTokens } from './source-tokens.ts'

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

/** Workers of clusters that run. */
interface ClusterWorkers {
  /** Rejects, naming the reason, while a cluster cannot be served. */
  ready(): Promise<void>
  /** Stops applying, and lets others lead. */
  close(): Promise<void>
}

const REPORT_MS = 10_000

/** Serves the clusters of WORKER_CLUSTERS from within. Throws `config` for what clusters.yaml does not say. */
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
  const store = new ObjectStore(join(config.cacheDir, 'objects'))
  const registry = openRegistry(config.registries)
  const web = openWebClient({ url: config.webUrl, keyFile: config.workerKeyFile })
  const stop = new AbortController()
  const problems = new Map<string, string>()
  // all replicas have the same, so that each knows what another one applied
  const valuesKey = config.valuesKey ?? readWorkerKeys(config.workerKeyFile)[0]
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
