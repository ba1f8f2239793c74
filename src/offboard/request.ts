/**
 * What a fleet admin asks for: a tenant that leaves the fleet, or some of its clusters, or one cluster for another; that has another
 * name; that gets a namespace of another tenant.
 */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant; of a move: the only one that it is on. */
  readonly clusters: readonly string[]
  /** The cluster that it moves to. */
  readonly to?: string
  /** The new name. */
  readonly name?: string
  /** The namespace that it gets. */
  readonly namespace?: string
}

/** Whether no workload goes: a tenant gets another name, or a namespace another tenant. */
export const isTransfer = ({ name, namespace }: OffboardRequest): boolean =>
  name !== undefined || namespace !== undefined

/**
 * Which of the changes is next. `arrival`, of a move: everything of the tenant, on the new cluster; of a rename: accounts, bindings and
 * sources of the new name; `workloads`: what applies as the tenant, so that it prunes while its account has its rights; `switch`: the
 * owner of namespaces changes, and Kustomizations act as the new account; `rest`: sources, accounts, roles, namespaces, credentials
 * that nothing needs then; `done`: nothing is left to do.
 */
export type OffboardStage = 'arrival' | 'workloads' | 'switch' | 'rest' | 'done'
