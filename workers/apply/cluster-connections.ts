import type { ClusterClient } from '../../src/cluster/client.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { connect } from '../../src/cluster/connect.ts'

/** One kept client per bound cluster, so that a resync neither shakes hands nor discovers kinds again. */
export class ClusterConnections {
  readonly #open = new Map<string, Promise<ClusterClient>>()

  /** Throws `config` where the kubeconfig cannot be used; nothing is kept then. */
  async get(binding: ClusterBinding): Promise<ClusterClient> {
    const known = this.#open.get(binding.name)
    if (known) return known
    const client = connect(binding)
    this.#open.set(binding.name, client)
    try {
      return await client
    } catch (error) {
      this.#open.delete(binding.name)
      throw error
    }
  }

  async close(): Promise<void> {
    const clients = [...this.#open.values()]
    this.#open.clear()
    for (const client of await Promise.allSettled(clients)) if (client.status === 'fulfilled') client.value.close()
  }
}
