import { hash } from 'node:crypto'
import { connect } from '../../src/cluster/api-client.ts'
import type { ApplyResults } from '../../src/cluster/channel/apply-results.ts'
import type { ClusterWork } from '../../src/cluster/channel/cluster-work.ts'
import type { WebClient } from '../../src/cluster/channel/web-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { acquireLease, type HeldLease, type LeaseTiming, leasedClient } from '../../src/cluster/lease.ts'
import type { Log } from '../../src/process/log.ts'
import { WORKER_LEASE } from '../../src/verdict/audit/worker-rbac.ts'
import { asBailiwickError, isPassing } from '../job-error.ts'
import { applyWork, type Ended, type WorkTools } from './apply-work.ts'
import { openWatchedCluster, type WatchedCluster } from './watched-cluster.ts'

interface ServeSettings {
  readonly binding: ClusterBinding
  readonly web: WebClient
  readonly tools: WorkTools
  readonly resyncSeconds: number
  /** How often the web process is polled. */
  readonly pollMs: number
  /** How often at most changes are reported, and how long a run lasts before its progress is reported. */
  readonly reportMs: number
  /** Unique to this process. */
  readonly identity: string
  readonly timing?: LeaseTiming
  readonly log: Log
  /** Called with the present problem; undefined: there is none. */
  readonly onState: (problem: string | undefined) => void
}

/** Serves a cluster until `stop`: waits for its Lease, leads as long as it has it, and waits again. Throws `config`. */
export async function serveCluster(settings: ServeSettings, stop: AbortSignal): Promise<void> {
  const { binding, identity, timing, log, onState } = settings
  const cluster = binding.name
  while (!stop.aborted) {
    const client = await connect(binding)
    try {
      const lease = await acquireLease(
        client,
        {
          name: WORKER_LEASE,
          identity,
          ...(timing ? { timing } : {}),
          waiting: (why, isHeld) => {
            log.debug({ cluster, why }, 'waiting for the Lease')
            onState(isHeld ? undefined : why)
          },
        },
        stop,
      )
      log.info({ cluster, identity }, 'leading')
      await lead(settings, client, lease, stop)
      if (!stop.aborted) log.warn({ cluster, identity }, 'the Lease was lost')
    } catch (err) {
      if (stop.aborted) return
      if (!isPassing(err)) throw err
      onState(asBailiwickError(err).message)
      log.warn({ err, cluster }, 'cluster is not served')
      await new Wake().sleep(settings.pollMs, stop)
    } finally {
      client.close()
    }
  }
}

/** Ends when the Lease is lost or the process stops; none of its work is running then. */
async function lead(
  settings: ServeSettings,
  client: ClusterClient,
  lease: HeldLease,
  stop: AbortSignal,
): Promise<void> {
  const { binding, resyncSeconds, log } = settings
  const wake = new Wake()
  const cluster = openWatchedCluster(binding, {
    client: leasedClient(client, lease),
    resyncSeconds,
    log,
    again: () => wake.call(),
  })
  try {
    await work(settings, cluster, wake, AbortSignal.any([stop, lease.signal]))
  } finally {
    await cluster.close()
    // a waiting replica begins at once; if this fails, after the duration of the Lease
    await lease.release().catch(err => log.warn({ err, cluster: binding.name }, 'the Lease was not released'))
  }
}

async function work(settings: ServeSettings, cluster: WatchedCluster, wake: Wake, signal: AbortSignal): Promise<void> {
  const { binding, web, reportMs, log, onState } = settings
  const problems = new Map<string, string>()
  const stateOf = (what: string) => (problem: string | undefined) => {
    if (problem === undefined) problems.delete(what)
    else problems.set(what, problem)
    const [first] = problems.values()
    onState(first)
  }
  const results = new RunResults(cluster, reportMs)
  const present = () => results.present()
  const sender = new ResultSender({
    ...{ web, cluster: binding.name, everyMs: reportMs, present, log },
    onState: stateOf('results'),
  })
  const sending = sender.run(signal)
  await applyWhatComes({ ...settings, onState: stateOf('work') }, { cluster, results, sender, wake }, signal)
  await sending
}

interface Served {
  readonly cluster: WatchedCluster
  readonly results: RunResults
  readonly sender: ResultSender
  readonly wake: Wake
}

async function applyWhatComes(
  { binding, web, tools, resyncSeconds, pollMs, log, onState }: ServeSettings,
  { cluster, results, sender, wake }: Served,
  signal: AbortSignal,
): Promise<void> {
  const name = binding.name
  const every = (binding.resyncSeconds ?? resyncSeconds) * 1000
  let known: { readonly work: ClusterWork; readonly tag: string } | undefined
  let due = 0
  while (!signal.aborted) {
    try {
      const fresh = await web.work(name, known?.tag)
      if (fresh && fresh.work.revisionSet !== known?.work.revisionSet) results.forget()
      known = fresh ?? known
      if (known && (fresh || wake.take() || performance.now() >= due)) {
        due = performance.now()
        const { work } = known
        const began = () => results.began(work.revisionSet)
        let ended: Ended | undefined
        try {
          ended = await applyWork(tools, binding, { cluster, again: () => wake.call(), began }, work, signal)
        } finally {
          results.over(ended)
        }
        sender.call()
        due += every
      }
      onState(undefined)
    } catch (err) {
      if (signal.aborted) return
      const { code, message } = asBailiwickError(err)
      onState(message)
      log.warn({ err, cluster: name, code }, 'cluster could not be reconciled')
    }
    await wake.sleep(pollMs, signal)
  }
}

/** The results of the present and the last run over a cluster. */
class RunResults {
  readonly #cluster: Pick<WatchedCluster, 'progress' | 'drift' | 'retryAt'>
  readonly #progressMs: number
  #ended: Ended | undefined
  #running: { readonly revisionSet: string; readonly since: number } | undefined

  /** `progressMs`: a run that ends sooner is reported when it has ended. */
  constructor(cluster: Pick<WatchedCluster, 'progress' | 'drift' | 'retryAt'>, progressMs: number) {
    this.#cluster = cluster
    this.#progressMs = progressMs
  }

  /** Another revision set is approved: the result of the former one is dropped. */
  forget(): void {
    this.#ended = undefined
  }

  began(revisionSet: string): void {
    this.#running = { revisionSet, since: performance.now() }
  }

  /** `ended`: the result; undefined if it is unknown, and the run is repeated. */
  over(ended: Ended | undefined): void {
    this.#running = undefined
    this.#ended = ended ?? this.#ended
  }

  present(): ApplyResults | undefined {
    const running = this.#running
    const isLong = running !== undefined && performance.now() - running.since >= this.#progressMs
    if (isLong) return this.#results({ revisionSet: running.revisionSet, applied: this.#cluster.progress() }, true)
    return this.#ended && this.#results(this.#ended, false)
  }

  #results(what: Ended, isRunning: boolean): ApplyResults {
    const retries = what.applied.flatMap(({ key }) => {
      const at = this.#cluster.retryAt(key)
      return at === undefined ? [] : [{ key, at: new Date(at).toISOString() }]
    })
    return { ...what, isRunning, retries, drift: this.#cluster.drift }
  }
}

/** The web process keeps results for days, or in its memory, so unchanged ones are sent again this often. */
const RENEW_MS = 600_000

interface SenderSettings {
  readonly web: Pick<WebClient, 'results'>
  readonly cluster: string
  /** How often at most changes are sent; the end of a run is sent at once. */
  readonly everyMs: number
  /** The present results; undefined: none. */
  readonly present: () => ApplyResults | undefined
  readonly log: Log
  /** Why the last report was refused; undefined: it was accepted. */
  readonly onState: (problem: string | undefined) => void
}

/** Sends the results of a cluster's worker when they change, one report at a time, each with the latest. */
class ResultSender {
  readonly #settings: SenderSettings
  readonly #wake = new Wake()
  #sent = ''
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(settings: SenderSettings) {
    this.#settings = settings
  }

  /** Called at the end of a run. */
  call(): void {
    this.#wake.call()
  }

  /** Resolves after an abort, when nothing is being sent any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { cluster, everyMs, log, onState } = this.#settings
    while (!signal.aborted) {
      await this.#wake.sleep(everyMs, signal)
      this.#wake.take()
      if (signal.aborted) return
      try {
        await this.#send(signal)
        onState(undefined)
      } catch (err) {
        if (signal.aborted) return
        const { code, message } = asBailiwickError(err)
        onState(message)
        log.warn({ err, cluster, code }, 'results were not taken')
      }
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { web, cluster, present } = this.#settings
    const results = present()
    if (!results) return
    const print = hash('sha256', JSON.stringify(results))
    const isFresh = performance.now() - this.#sentAt < RENEW_MS
    if (print === this.#sent && isFresh) return
    // an overtaken report is dropped: the worker polls for the work that is approved now anyway
    await web.results(cluster, results, signal)
    this.#sent = print
    this.#sentAt = performance.now()
  }
}

/** A sleep that a call ends, also one that came before it began. */
class Wake {
  #called = false
  #awake: (() => void) | undefined

  call(): void {
    this.#called = true
    this.#awake?.()
  }

  /** Whether it was called since the last `take`. */
  take(): boolean {
    const called = this.#called
    this.#called = false
    return called
  }

  /** Ends with a call or the signal. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#called || signal.aborted) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#awake = () => {
        clearTimeout(timer)
        resolve()
      }
      signal.addEventListener('abort', this.#awake, { once: true })
    })
    if (this.#awake) signal.removeEventListener('abort', this.#awake)
    this.#awake = undefined
  }
}
