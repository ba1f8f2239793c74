import { WORKER_LEASE } from '../../src/access/worker-lease.ts'
import type { ClusterWork } from '../../src/channel/cluster-work.ts'
import type { WebClient } from '../../src/channel/web-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { connect } from '../../src/cluster/connect.ts'
import { acquireLease, type HeldLease } from '../../src/cluster/lease/acquire-lease.ts'
import type { LeaseTiming } from '../../src/cluster/lease/lease-election.ts'
import { leasedClient } from '../../src/cluster/lease/leased-client.ts'
import type { Log } from '../../src/process/log.ts'
import { openWatchedCluster } from '../apply/open-watched-cluster.ts'
import type { WatchedCluster } from '../apply/watched-cluster.ts'
import { asBailiwickError, isPassing } from '../job-error.ts'
import { applyWork, type Ended, type WorkTools } from './apply-work.ts'
import { ResultSender } from './result-sender.ts'
import { RunResults } from './run-results.ts'
import { Wake } from './wake.ts'

/** How one cluster is served. */
interface ServeSettings {
  readonly binding: ClusterBinding
  readonly web: WebClient
  readonly tools: WorkTools
  readonly resyncSeconds: number
  /** How often the web process is asked. */
  readonly pollMs: number
  /** How often at most it is told what changes, and how long a run lasts before it is told how far it is. */
  readonly reportMs: number
  /** Unique to this process. */
  readonly identity: string
  readonly timing?: LeaseTiming
  readonly log: Log
  /** What keeps it from its work at the moment; undefined: nothing does. */
  readonly onState: (problem: string | undefined) => void
}

/** Serves a cluster until it is told to stop: waits for its Lease, leads as long as it has it, and waits again. Throws `config`. */
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

/** Ends when the Lease is lost or the process stops; nothing of ours is under way then. */
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
    // whoever waits begins at once; where that fails, after the duration of the Lease
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
