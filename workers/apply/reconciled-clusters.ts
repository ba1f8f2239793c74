import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { connect } from '../../src/cluster/connect.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openWatchedCluster } from './open-watched-cluster.ts'
import type { WatchedCluster } from './watched-cluster.ts'

type Context = Pick<WorkerContext, 'config' | 'log' | 'queue' | 'metrics'>

/** What this process keeps of each bound cluster: its connections, its kinds, what was applied there, who watches it. */
export class ReconciledClusters {
  readonly #open = new Map<string, Promise<WatchedCluster>>()

  /** Throws `config` where the kubeconfig cannot be used; nothing is kept then. */
  async get(context: Context, binding: ClusterBinding): Promise<WatchedCluster> {
    const known = this.#open.get(binding.name)
    if (known) return known
    const cluster = open(context, binding)
    this.#open.set(binding.name, cluster)
    try {
      return await cluster
    } catch (error) {
      this.#open.delete(binding.name)
      throw error
    }
  }

  async close(): Promise<void> {
    const clusters = [...this.#open.values()]
    this.#open.clear()
    for (const one of await Promise.allSettled(clusters)) if (one.status === 'fulfilled') await one.value.close()
  }
}

async function open({ config, log, queue, metrics }: Context, binding: ClusterBinding): Promise<WatchedCluster> {
  const { name: cluster } = binding
  const again = () => {
    queue.add('reconcile', { cluster }).catch(error => {
      // the next resync does it
      log.warn({ err: error, cluster }, 'another run could not be promised')
    })
  }
  return openWatchedCluster(binding, {
    client: await connect(binding),
    resyncSeconds: config.resyncSeconds,
    log,
    again,
    onRevision: outcome => metrics.revisionShown(outcome),
  })
}
