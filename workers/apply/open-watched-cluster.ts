import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { Log } from '../../src/process/log.ts'
import type { RevisionOutcome } from './revision-queue.ts'
import { WatchedCluster } from './watched-cluster.ts'

interface OpenSettings {
  readonly client: ClusterClient
  /** Where the binding says nothing. */
  readonly resyncSeconds: number
  readonly log: Log
  /** Has `run` called again. */
  readonly again: () => void
  /** See WatchedCluster. */
  readonly onRevision?: (outcome: RevisionOutcome) => void
}

const FULL_PASS_SECONDS = 600

/** A cluster as its binding in clusters.yaml says. */
export function openWatchedCluster(
  binding: ClusterBinding,
  { client, resyncSeconds, log, again, onRevision }: OpenSettings,
): WatchedCluster {
  const resync = binding.resyncSeconds ?? resyncSeconds
  return new WatchedCluster({
    client,
    drift: binding.drift ?? 'watch',
    fullPassMs: (binding.fullPassSeconds ?? Math.max(FULL_PASS_SECONDS, resync)) * 1000,
    pollMs: (binding.fullPassSeconds ?? resync) * 1000,
    ...(binding.lanes === undefined ? {} : { lanes: binding.lanes }),
    events: binding.events,
    kubeConfigs: binding.kubeConfigs,
    kmsKeys: binding.kmsKeys,
    log,
    again,
    onRevision,
  })
}
