import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { programVersion } from '../base/version.ts'
import type { Log } from '../process/log.ts'
import type { OpenQueue, Queue, QueueDepth } from './queue.ts'

/** An answer of GitHub. */
interface GitHubAnswer {
  readonly method: string
  /** The template of the request's path, `/repos/{owner}/{repo}`, or the address of a further page. */
  readonly url: string
  /** 0: none came. */
  readonly status: number
  /** Absent: the App spoke for itself. */
  readonly installation?: number
  /** What is left of the budget of requests, where the answer has it. */
  readonly remaining?: number
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const MAX_INSTALLATIONS = 200

/**
 * The figures of one process, for Prometheus. Labels are words of ours, kinds of requests, states and numbers of
 * installations: no repository, tenant or person is in them, and there are never more than a few hundred.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #installations = new Set<number>()
  readonly #jobs = this.#histogram('bailiwick_job_seconds', 'Duration of jobs', ['job', 'outcome'])
  readonly #latency = this.#histogram('bailiwick_verdict_seconds', 'Time from the webhook to the verdict on GitHub', [
    'job',
  ])
  readonly #verdicts = this.#counter('bailiwick_verdicts_total', 'Verdicts', ['about', 'result'])
  readonly #deliveries = this.#counter('bailiwick_deliveries_total', 'Webhooks by HTTP status of the response', [
    'status',
  ])
  readonly #failed = this.#counter(
    'bailiwick_failed_deliveries_total',
    'Webhooks that failed by the list of GitHub and were requested again',
    ['status'],
  )
  readonly #requests = this.#counter('bailiwick_github_requests_total', 'Requests to GitHub', ['request', 'status'])
  readonly #revisions = this.#counter(
    'bailiwick_revision_statuses_total',
    'Statuses of Kustomizations in which only the revision is new',
    ['outcome'],
  )
  readonly #budget = this.#gauge('bailiwick_github_budget_remaining', 'Remaining GitHub requests of this hour', [
    'installation',
  ])

  /** `ofProcess`: what Node itself measures, too. */
  constructor({ ofProcess = false } = {}) {
    if (ofProcess) collectDefaultMetrics({ register: this.#registry })
    this.#gauge('bailiwick_build_info', 'Always 1; the version of this process', ['version']).set(
      { version: programVersion() },
      1,
    )
  }

  jobDone(job: string, outcome: 'done' | 'failed', seconds: number): void {
    this.#jobs.observe({ job, outcome }, seconds)
  }

  verdictPublished(job: string, seconds: number): void {
    this.#latency.observe({ job }, seconds)
  }

  verdictReached(about: string, result: string): void {
    this.#verdicts.inc({ about, result })
  }

  deliveryAnswered(status: number): void {
    this.#deliveries.inc({ status: String(status) })
  }

  deliveryFailed(status: number): void {
    this.#failed.inc({ status: String(status) })
  }

  revisionShown(outcome: 'written' | 'coalesced' | 'failed'): void {
    this.#revisions.inc({ outcome })
  }

  githubAnswered({ method, url, status, installation, remaining }: GitHubAnswer): void {
    this.#requests.inc({ request: kindOfRequest(method, url), status: String(status) })
    if (installation === undefined || remaining === undefined) return
    if (this.#installations.size >= MAX_INSTALLATIONS && !this.#installations.has(installation)) return
    this.#installations.add(installation)
    this.#budget.set({ installation: String(installation) }, remaining)
  }

  /** Asks for the depths with each look; what cannot be had is left out. */
  watchQueue(depths: () => Promise<readonly QueueDepth[]>): void {
    this.#watch('bailiwick_queue_jobs', 'Jobs of the whole installation by state', ['queue', 'state'], async gauge => {
      gauge.reset()
      for (const depth of await depths()) {
        for (const state of STATES) gauge.set({ queue: depth.queue, state }, depth[state])
      }
    })
  }

  /** The same of the memory that the rendering thread holds, in bytes; undefined without a thread. */
  watchThread(heap: () => Promise<number | undefined>): void {
    this.#watch('bailiwick_evaluation_heap_bytes', 'Heap of the evaluation thread', [], async gauge => {
      gauge.reset()
      const bytes = await heap()
      if (bytes !== undefined) gauge.set(bytes)
    })
  }

  /** Everything in Prometheus' text format. */
  async render(): Promise<{ readonly type: string; readonly text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #watch(name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => Promise<void>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => collect(gauge).catch(() => undefined), // an absent figure shows that it could not be measured
    })
  }

  #histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.#registry] })
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] })
  }
}

/** The metrics of a process, and who may read them: callers with the token, and no one where there is none. */
export function openMetrics({ metricsToken: token }: { readonly metricsToken: string | undefined }, queue: OpenQueue) {
  const metrics = new Metrics({ ofProcess: token !== undefined })
  metrics.watchQueue(() => queue.depths())
  return { metrics, access: token === undefined ? undefined : { token, render: () => metrics.render() } }
}

/** The jobs that end with a verdict on GitHub. */
const VERDICTS = new Set(['validate-pull-request', 'validate-push', 'validate-merge-group'])

/** The same queue, with how long its jobs run and how they end written down. */
export function measureJobs(queue: Queue, metrics: Metrics, log: Pick<Log, 'debug' | 'info'>): Queue {
  return {
    add: (name, data, options) => queue.add(name, data, options),
    repeat: (name, data, everyMs) => queue.repeat(name, data, everyMs),
    withLock: (key, work) => queue.withLock(key, work),
    entries: key => queue.entries(key),
    idle: () => queue.idle(),
    close: graceMs => queue.close(graceMs),
    work: (name, handler, options) =>
      queue.work(
        name,
        async (data, attempt) => {
          const started = performance.now()
          let outcome: 'done' | 'failed' = 'failed'
          try {
            await handler(data, attempt)
            outcome = 'done'
          } finally {
            metrics.jobDone(name, outcome, (performance.now() - started) / 1_000)
          }
          const { addedAt, delivery } = attempt
          const done = { seconds: Math.round(performance.now() - started) / 1_000 }
          // jobs that a timer repeats would fill the log
          log[delivery === undefined ? 'debug' : 'info'](done, 'job done')
          if (addedAt !== undefined && VERDICTS.has(name))
            metrics.verdictPublished(name, (Date.now() - addedAt) / 1_000)
        },
        options,
      ),
  }
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
/** Paths of GitHub that name nothing. */
const FIXED = new Set([
  '/app',
  '/app/installations',
  '/app/hook/deliveries',
  '/installation/repositories',
  '/user',
  '/rate_limit',
])

/**
 * What kind of request this is: `GET /repos/{owner}/{repo}/pulls`, as GitHub's description names it. An address that is
 * no template (further pages, archives) holds names, and is only called one of these.
 */
export function kindOfRequest(method: string, url: string): string {
  const verb = METHODS.has(method) ? method : 'OTHER'
  const parts = url.split('/')
  const owner = parts.indexOf('{owner}')
  const isRepository = /^\/repos\/\{owner\}\/\{repo\}(?:\/[a-z_-]+|\/\{[a-z_]+\})*$/.test(url) && owner === 2
  const isTemplate =
    isRepository ||
    /^\/(?:orgs\/\{org\}|users\/\{username\}|app\/installations\/\{installation_id\})(?:\/[a-z_-]+|\/\{[a-z_]+\})*$/.test(
      url,
    )
  return `${verb} ${isTemplate || FIXED.has(url) ? url : 'other'}`
}
