/**
 * The request of a fleet admin: remove a tenant from the fleet or from some clusters, move it to another cluster, rename it, or hand a
 * namespace over to it.
 */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant; of a move: the only one that it is on. */
  readonly clusters: readonly string[]
  /** The cluster that it moves to. */
  readonly to?: string
  /** The tenant's new name. */
  readonly name?: string
  /** The namespace to hand over. */
  readonly namespace?: string
}

/** Whether the request removes no workloads, as a rename or a hand-over. */
export const isTransfer = ({ name, namespace }: OffboardRequest): boolean =>
  name !== undefined || namespace !== undefined

/**
 * The next change. `arrival`: in a move, everything of the tenant on the new cluster; in a rename, the accounts, bindings and sources
 * with the new name. `workloads`: removes what applies as the tenant, so that Flux prunes while the account has its rights. `switch`:
 * changes the owner of namespaces and the accounts of Kustomizations. `rest`: removes the sources, accounts, roles, namespaces and
 * credentials that nothing needs any longer. `done`: nothing is left to do.
 */
export type OffboardStage = 'arrival' | 'workloads' | 'switch' | 'rest' | 'done'
