import { TENANT_ROLE } from '../fleet/tenancy/tenant-role.ts'

/** What an admin asks for: a tenant, where its content lies, and where it may live. Checked by parseOnboardArguments. */
export interface OnboardRequest {
  readonly tenant: string
  /** Address as Flux will read it: https or ssh. */
  readonly url: string
  /** At least one; source and Kustomization go into the first. */
  readonly namespaces: readonly string[]
  /** At least one. */
  readonly clusters: readonly string[]
  /** Which is applied where `ref` is absent. */
  readonly branch: string
  /** What is applied instead of the branch; an OCI artifact has no branch, so it is there. */
  readonly ref?: TenantRef
  /** How often Flux looks for changes, as Go prints durations; absent: each minute, as the flux CLI writes. */
  readonly interval?: string
  /** Absent: removed objects are deleted. */
  readonly prune?: boolean
  /** Whether the Kustomization waits for its objects; at most `timeout` (absent: two minutes). */
  readonly wait?: boolean
  readonly timeout?: string
  /** The account that applies; absent: one named like the tenant. */
  readonly account?: string
  /** How the cluster reads the repository; absent: without credentials, or by a Secret that somebody adds. */
  readonly access?: TenantAccess
  /** The GitHub App of `github-app` access and its installation: digits. */
  readonly appId?: string
  readonly installationId?: string
  /** Directory of the tenant's repository, `./x`; absent: its root, or a directory named like the cluster. */
  readonly path?: string
  /** What its account may do inside its namespaces; absent: `tenant`. */
  readonly role?: TenantRole
  /** The Secret of `access` as SOPS sealed it: a whole file. */
  readonly sealed?: string
  /** Whether the cluster decrypts what the tenant encrypted with SOPS, by a key of this tenant alone. */
  readonly decryption?: TenantDecryption
  /** The Secret of `decryption` as SOPS sealed it: a whole file. */
  readonly sealedKey?: string
  /** The fleet's `.sops.yaml` with the tenant's creation rule. */
  readonly sopsConfig?: { readonly path: string; readonly content: string }
  /** Who works on it, as GitHub names it: `organization/team`, or one person. */
  readonly team?: string
  /** Directories at the root of the tenant's repository, where they are known. */
  readonly tenantDirectories?: readonly string[]
}

/** Part of a repository, by the field of `spec.ref` that names it. */
export interface TenantRef {
  readonly field: 'tag' | 'semver' | 'commit' | 'digest'
  readonly value: string
}

/** Credentials of a source: an SSH key of this repository alone, an HTTPS token, or a GitHub App of the fleet's owner. */
export const TENANT_ACCESS = ['deploy-key', 'token', 'github-app'] as const
/** What people write for a repository that the cluster reads without credentials. */
export const NO_ACCESS = 'none'
export type TenantAccess = (typeof TENANT_ACCESS)[number]

/** How a tenant may encrypt what is in its repository. */
export const TENANT_DECRYPTION = ['sops'] as const
export type TenantDecryption = (typeof TENANT_DECRYPTION)[number]

/** What a tenant may be inside its namespaces: the role of the fleet's tenants, or one of Kubernetes itself, the most first. */
export const TENANT_ROLES = ['tenant', 'cluster-admin', 'admin', 'edit'] as const
export type TenantRole = (typeof TENANT_ROLES)[number]

/** The role that a request asks for. */
export const roleOf = ({ role }: OnboardRequest): TenantRole => role ?? 'tenant'

/** The ClusterRole of it. */
export function clusterRoleOf(request: OnboardRequest): string {
  const role = roleOf(request)
  return role === 'tenant' ? TENANT_ROLE : role
}

/** The account that applies what the tenant has in git. */
export const accountOf = ({ tenant, account }: OnboardRequest): string => account ?? tenant

/** The Secret with the credentials of its source; undefined where it needs none. */
export const secretOf = ({ tenant, access }: OnboardRequest): string | undefined =>
  access === undefined ? undefined : `${tenant}-auth`

/** The Secret with the key that decrypts its files; undefined where nothing is decrypted. */
export const keySecretOf = ({ tenant, decryption }: OnboardRequest): string | undefined =>
  decryption === undefined ? undefined : `${tenant}-sops`

/** The kubeconfig Secret of the tenant's account; capsule-addon-fluxcd uses the same name. */
export const kubeConfigSecretOf = (request: OnboardRequest): string => `${accountOf(request)}-kubeconfig`

/** Whether its content is an artifact of a registry. */
export const isArtifact = ({ url }: OnboardRequest): boolean => url.startsWith('oci://')

/** The address that Flux reads: a deploy key is used over SSH. */
export function sourceAddress({ url, access }: OnboardRequest): string {
  const address = URL.parse(url)
  if (access !== 'deploy-key' || address?.protocol !== 'https:') return url
  return `ssh://git@${address.host}${address.pathname}`
}
