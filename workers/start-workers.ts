import { readClustersFile } from '../src/cluster/clusters-file.ts'
import { openRegistry } from '../src/cluster/registry.ts'
import type { Config } from '../src/config.ts'
import { ObjectStore } from '../src/git/object-store.ts'
import { openApp } from '../src/github/client/app.ts'
import { LOOPBACK_PACE, type Pace } from '../src/github/client/client-class.ts'
import { isLoopbackUrl } from '../src/process/environment.ts'
import type { Log } from '../src/process/log.ts'
import { type Metrics, measureJobs } from '../src/receive/metrics.ts'
import { openOutbox } from '../src/receive/outbox.ts'
import type { JobName, Jobs, Queue } from '../src/receive/queue.ts'
import { openTtlStore } from '../src/surface/pages/ttl-store.ts'
import { STATEMENT_LIMITS, StatementStore } from '../src/surface/pages/work-store.ts'
import { type Offered, publishResults } from './apply/offer-work.ts'
import { ReconciledClusters, reconcileCluster } from './apply/reconcile-cluster.ts'
import { COMMENT_PACE, LOOPBACK_COMMENT_PACE, ReportMemory } from './apply/report-applied.ts'
import { Evaluator } from './fleets/evaluator.ts'
import type { OpenThread } from './fleets/open-thread.ts'
import { DesignationMemory, RepositoryMemory, type WorkerContext } from './fleets/worker-context.ts'
import { jobs } from './jobs/jobs.ts'

/** What the workers share with the process that starts them. */
interface WorkerDependencies {
  readonly config: Config
  readonly queue: Queue
  readonly log: Log
  readonly pages: WorkerContext['pages']
  readonly work: WorkerContext['work']
  readonly metrics: Metrics
  /** Rules to switch off in this process. */
  readonly disabledRules?: readonly string[]
  /** Pauses between writes; by default what GitHub asks for, shorter if it is on this machine. */
  readonly pace?: Pace | undefined
  /** Opens the rendering threads; set by tests only. */
  readonly openThread?: OpenThread | undefined
}

/** How often the failed deliveries are read from GitHub. */
const REDELIVER_SECONDS = 300

/** For how many clusters results are published in parallel. */
const RESULTS_AT_ONCE = 4

/** Running workers. Close their queue first: its running jobs need them. */
interface Workers {
  close(): Promise<void>
}

/**
 * Runs every kind of job of the queue, one reconcile queue per bound cluster, and looks for lost work now and at
 * intervals. Throws `config` for a clusters.yaml that cannot be used.
 */
export async function startWorkers(dependencies: WorkerDependencies): Promise<Workers> {
  const { config, log, pages, work, metrics, disabledRules = [], pace } = dependencies
  const queue = measureJobs(dependencies.queue, metrics, log)
  const bindings =
    config.clustersFile === undefined ? [] : readClustersFile(config.clustersFile, text => log.warn(text))
  const limits = { timeoutMs: config.renderTimeoutMs, heapMb: config.renderHeapMb, threads: config.renderThreads }
  const evaluator = new Evaluator(limits, dependencies.openThread)
  const store = openTtlStore({ ...STATEMENT_LIMITS, redisUrl: config.redisUrl, name: 'statements', log })
  const statements = new StatementStore(store)
  const outbox = config.trail ? openOutbox(config, log) : undefined
  const context: WorkerContext = {
    config,
    app: openApp({
      appId: config.appId,
      privateKey: config.privateKey,
      baseUrl: config.githubApiUrl,
      allowedAccounts: config.allowedAccounts,
      pace: pace ?? (isLoopbackUrl(config.githubApiUrl) ? LOOPBACK_PACE : undefined),
      onAnswer: answer => metrics.githubAnswered(answer),
      log,
    }),
    queue,
    store: ObjectStore.on(config),
    registry: openRegistry(config.registries),
    evaluator,
    memory: new RepositoryMemory(),
    designations: new DesignationMemory(),
    bindings,
    pages,
    statements,
    outbox,
    work,
    metrics,
    disabledRules,
    log,
  }
  metrics.watchThread(() => evaluator.heapBytes())
  const commentPace = isLoopbackUrl(config.githubApiUrl) ? LOOPBACK_COMMENT_PACE : COMMENT_PACE
  const memory = {
    clusters: new ReconciledClusters(),
    reports: new ReportMemory(commentPace),
    offers: new Map<string, Offered>(),
  }
  for (const job of jobs) job.start(context)
  await workOnClusters(context, memory)
  await promise(queue, 'sweep', {}, config.sweepSeconds)
  await promise(queue, 'redeliver', {}, REDELIVER_SECONDS)
  return {
    close: async () => {
      await evaluator.close()
      await memory.clusters.close()
      await statements.close()
      await outbox?.close()
    },
  }
}

async function workOnClusters(context: WorkerContext, memory: Parameters<typeof reconcileCluster>[1]): Promise<void> {
  const { queue, config } = context
  for (const { name: cluster, mode, resyncSeconds } of context.bindings) {
    if (mode !== 'reconcile') continue
    await promise(queue, 'reconcile', { cluster }, resyncSeconds ?? config.resyncSeconds)
    queue.work('reconcile', (data, attempt) => reconcileCluster(context, memory, data, attempt), { cluster })
  }
  queue.work('publish-results', data => publishResults(context, memory.offers, data), { concurrency: RESULTS_AT_ONCE })
}

/** Runs now and at intervals: a repeat that Redis kept from before does not run at the start of a worker. */
async function promise<N extends JobName>(queue: Queue, name: N, data: Jobs[N], seconds: number): Promise<void> {
  await queue.repeat(name, data, seconds * 1000)
  await queue.add(name, data)
}
