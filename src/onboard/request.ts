/** What an admin asks for: a tenant, where its content lies, and where it may live. Checked by parseOnboardArguments. */
export interface OnboardRequest {
  readonly tenant: string
  /** Address as Flux will read it: https or ssh. */
  readonly url: string
  /** At least one; source and Kustomization go into the first. */
  readonly namespaces: readonly string[]
  /** At least one. */
  readonly clusters: readonly string[]
  readonly branch: string
  /** Directory of the tenant's repository, `./x`; absent: its root, or a directory named like the cluster. */
  readonly path?: string
  /** The ClusterRole that its account has inside its namespaces; absent: cluster-admin, as `flux create tenant` gives. */
  readonly role?: TenantRole
  /** Directories at the root of the tenant's repository, where they are known. */
  readonly tenantDirectories?: readonly string[]
}

/** Roles of Kubernetes itself that a tenant may be given inside its namespaces, the most first. */
export const TENANT_ROLES = ['cluster-admin', 'admin', 'edit'] as const
export type TenantRole = (typeof TENANT_ROLES)[number]

/** The role that a request asks for. */
export const roleOf = ({ role }: OnboardRequest): TenantRole => role ?? 'cluster-admin'
