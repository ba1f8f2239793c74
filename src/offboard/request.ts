/** The request of a fleet admin: remove a tenant from the fleet or from some clusters. */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant. */
  readonly clusters: readonly string[]
}

/**
 * The next change. `workloads`: removes what applies as the tenant, so that Flux prunes while the account has its rights. `rest`: removes
 * the sources, accounts, roles, namespaces and credentials that nothing needs any longer. `done`: nothing is left to do.
 */
export type OffboardStage = 'workloads' | 'rest' | 'done'
