import { readFileSync } from 'node:fs'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { binding } from '../../test/cluster/cluster-under-test.ts'
import { silentLog } from '../../test/repository/runner/silent-log.ts'
import { WatchedCluster } from '../../workers/apply/watched-cluster.ts'
import { approvedOf, CLUSTER, type Shape } from './bench-fleet.ts'

/** What a run took. Requests for inventories and for statuses are not those for objects. */
export interface Measured {
  readonly seconds: number
  readonly requests: number
  readonly objectRequests: number
  /** Of Kustomizations and events: what `flux get ks` and `flux events` show. */
  readonly statusRequests: number
  readonly verbs: Readonly<Record<string, number>>
  /** After the run: statuses and events in which only the revision is new. */
  readonly later: { readonly seconds: number; readonly requests: number }
  readonly peakMb: number
  readonly failed: number
}

/** Inventories, and the status of Flux Kustomizations. */
const OWN = ['/api/v1/namespaces/bailiwick-system/configmaps', '/apis/kustomize.toolkit.fluxcd.io/']

/** The worker alone in a process of its own: the parent sends a Shape, and is answered what applying it took. */
const [kubeconfig] = process.argv.slice(2)
const plain = await connect(binding(CLUSTER, kubeconfig!))
const count = { requests: 0, objects: 0, statuses: 0, verbs: {} as Record<string, number> }
const client: ClusterClient = {
  ...plain,
  request(actor, method, path, options) {
    count.requests++
    count.verbs[method] = (count.verbs[method] ?? 0) + 1
    if (actor === 'worker' && method !== 'GET' && /\/(?:kustomizations|events)(?:\/|$)/.test(path)) count.statuses++
    if (actor !== 'worker' && !OWN.some(own => path.startsWith(own))) count.objects++
    return plain.request(actor, method, path, options)
  },
}

const watched = new WatchedCluster({
  client,
  drift: 'watch',
  fullPassMs: 600_000,
  pollMs: 60_000,
  log: silentLog,
  again: () => {},
})

process.on('message', async (shape: Shape) => {
  count.requests = 0
  count.objects = 0
  count.statuses = 0
  count.verbs = {}
  const approved = approvedOf(shape)
  const start = performance.now()
  const applied = await watched.run(approved, new AbortController().signal)
  const seconds = (performance.now() - start) / 1000
  const { requests, objects, statuses } = count
  const verbs = { ...count.verbs }
  await watched.revisionsShown()
  const later = { seconds: (performance.now() - start) / 1000 - seconds, requests: count.statuses - statuses }
  const failed = applied.filter(node => node.outcome !== 'applied' || node.objects.some(o => o.action === 'refused'))
  const measured: Measured = {
    seconds,
    requests,
    objectRequests: objects,
    statusRequests: statuses,
    verbs,
    later,
    peakMb: peakMb(),
    failed: failed.length,
  }
  process.send!(measured)
})
process.once('disconnect', () => process.exit(0))
process.send!('ready')

/** Of this process alone: Linux hands maxRSS of a parent down to the programs that it starts. */
function peakMb(): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Math.round(Number(kb) / 1024)
}
