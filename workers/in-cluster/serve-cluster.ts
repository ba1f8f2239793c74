import { hash } from 'node:crypto'
import type { ApplyResults } from '../../src/channel/apply-results.ts'
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
import { applyWork, type WorkTools } from './apply-work.ts'
import { Wake } from './wake.ts'

const WORKER_LEASE = 'bailiwick-worker'

/** How one cluster is served. */
interface ServeSettings {
  readonly binding: ClusterBinding
  readonly web: WebClient
  readonly tools: WorkTools
  readonly resyncSeconds: number
  /** How often the web process is asked. */
  readonly pollMs: number
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

async function work(
  { binding, web, tools, resyncSeconds, pollMs, log, onState }: ServeSettings,
  cluster: WatchedCluster,
  wake: Wake,
  signal: AbortSignal,
): Promise<void> {
  const name = binding.name
  const every = (binding.resyncSeconds ?? resyncSeconds) * 1000
  let known: { readonly work: ClusterWork; readonly tag: string } | undefined
  let due = 0
  let unsent: ApplyResults | undefined
  let sent = ''
  while (!signal.aborted) {
    try {
      const fresh = await web.work(name, known?.tag)
      known = fresh ?? known
      if (known && (fresh || wake.take() || performance.now() >= due)) {
        due = performance.now()
        unsent = await applyWork(tools, binding, { cluster, again: () => wake.call() }, known.work, signal)
        due += every
      }
      const print = unsent && hash('sha256', JSON.stringify(unsent))
      if (unsent && print !== undefined && print !== sent) await web.results(name, unsent)
      sent = print ?? sent
      unsent = undefined
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
