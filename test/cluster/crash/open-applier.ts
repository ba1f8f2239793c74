import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import type { AppliedNode } from '../../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'
import { WatchedCluster } from '../../../workers/apply/watched-cluster.ts'
import { approvedOf } from '../approved-node.ts'
import { binding } from '../cluster-under-test.ts'

/** A worker as far as one cluster is concerned, with what it remembers from run to run. */
export interface Applier {
  readonly client: ClusterClient
  run(nodes: readonly ApprovedNode[]): Promise<AppliedNode[]>
  close(): Promise<void>
}

interface ApplierOptions {
  readonly timeoutMs?: number
  readonly drift?: 'watch' | 'poll'
  /** After how long an object is looked at again though nothing says that it changed. */
  readonly passMs?: number
  /** Told the stack of each request. */
  readonly called?: (stack: string) => void
}

export async function openApplier(kubeconfig: string, cluster: string, options: ApplierOptions = {}): Promise<Applier> {
  const { timeoutMs = 30_000, drift = 'poll', passMs = 3_600_000, called } = options
  const plain = await connect(binding(cluster, kubeconfig), { timeoutMs })
  const client: ClusterClient =
    called === undefined
      ? plain
      : {
          ...plain,
          request(...call) {
            called(new Error('request').stack!)
            return plain.request(...call)
          },
          stream(...call) {
            called(new Error('stream').stack!)
            return plain.stream(...call)
          },
        }
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const watched = new WatchedCluster({ client, drift, fullPassMs: passMs, pollMs: passMs, log, again: () => {} })
  return {
    client,
    run: nodes => watched.run(approvedOf(nodes), AbortSignal.timeout(120_000)),
    close: () => watched.close(),
  }
}
