/** What a fleet admin asks for: a tenant that leaves the fleet, or some of its clusters, or one cluster for another. */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant; of a move: the only one that it is on. */
  readonly clusters: readonly string[]
  /** The cluster that it moves to. */
  readonly to?: string
}

/**
 * Which of the changes is next. `arrival`, of a move: everything of the tenant, on the new cluster; `workloads`: what applies as the
 * tenant, so that it prunes while its account has its rights; `rest`: sources, accounts, roles, namespaces, credentials; `done`:
 * the fleet has nothing of the tenant there.
 */
export type OffboardStage = 'arrival' | 'workloads' | 'rest' | 'done'
