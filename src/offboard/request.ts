/** What a fleet admin asks for: a tenant that leaves the fleet, or some of its clusters. */
export interface OffboardRequest {
  readonly tenant: string
  /** Empty: every cluster of the tenant. */
  readonly clusters: readonly string[]
}

/**
 * Which of the two changes is next. `workloads`: what applies as the tenant, so that it prunes while its account has its rights;
 * `rest`: sources, accounts, roles, namespaces, credentials; `done`: the fleet has nothing of the tenant there.
 */
export type OffboardStage = 'workloads' | 'rest' | 'done'
