import type { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { SourceKind, VariableSource } from '../../flux/substitute/variables.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import type { GitRef } from './source-ref.ts'

/** The file with the settings of a fleet that are not in its manifests. */
export const FLEET_FILE = '.github/bailiwick.yaml'

/** `baseline`: what lets a tenant out. `restricted`, the default: also what a tenant should not need. */
export type Profile = 'baseline' | 'restricted'

/** `report`: findings are reported without blocking. */
export type Enforcement = 'block' | 'report'

/** The configured level of a rule: a severity for its violations, only a warning, or off. */
export type ConfiguredSeverity = 'critical' | 'high' | 'medium' | 'low' | 'warning' | 'off'

/** A ConfigMap or Secret that only the cluster has, as the fleet declares it. */
export interface Declaration {
  /** Undefined: on every cluster. */
  readonly cluster: string | undefined
  readonly kind: SourceKind
  readonly namespace: string
  readonly name: string
  readonly source: VariableSource
}

/** One violation that a waiver accepts: this value, at most this severe. */
export interface AcceptedViolation {
  readonly fingerprint: string
  /** Undefined: however severe. */
  readonly severity: 'critical' | 'high' | 'medium' | 'low' | undefined
  /** For people. */
  readonly field: string | undefined
}

/** A violation that is accepted until a day. */
export interface Waiver {
  readonly rule: string
  /** Undefined: on every cluster. */
  readonly cluster: string | undefined
  /** `Kind`, or `<group>/<Kind>` where the group matters. */
  readonly kind: string
  /** '' for an object without a namespace. */
  readonly namespace: string
  readonly name: string
  /** What it accepts; another value of the same object is another violation, which it does not cover. */
  readonly violations: readonly AcceptedViolation[]
  readonly reason: string
  /** Who asked for it, where that was written down. */
  readonly requester: string | undefined
  /** Undefined: not accepted yet, so it has no effect. */
  readonly approver: string | undefined
  /** `YYYY-MM-DD`, the last day on which it holds. */
  readonly expires: string
  readonly origin: Origin
}

/** A service account that a policy engine or an addon makes on the cluster. */
interface DeclaredAccount {
  readonly cluster: string | undefined
  /** Undefined: in every namespace of a tenant. */
  readonly namespace: string | undefined
  readonly name: string
}

/** The scope of a custom kind whose definition the fleet does not render. */
interface DeclaredKind {
  readonly group: string
  readonly kind: string
  readonly scope: 'Namespaced' | 'Cluster'
}

/** The Kubernetes of a cluster, by its minor version. */
interface DeclaredKubernetes {
  /** Undefined: every cluster without an entry of its own. */
  readonly cluster: string | undefined
  readonly version: number
}

/** A branch of a repository that is protected by our check although no blessed source follows it. */
export interface GatedBranch {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly branch: string
}

/**
 * What a tenant may deploy from besides the sources that the platform declares. `gated`: a branch that requires our check or a
 * commit; anything else needs an approval. `declared`: nothing else. `any`: any repository.
 */
type TenantSources = 'gated' | 'declared' | 'any'

/** A source of a tenant that a fleet admin approved, for one account. */
interface ApprovedSource {
  readonly tenant: string
  readonly url: string
  readonly ref: GitRef
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly account: string
}

/** A source that is applied by hand. */
export interface DeclaredSource {
  readonly kind: 'GitRepository' | 'OCIRepository' | 'Bucket'
  readonly namespace: string
  readonly name: string
  readonly url: string
  readonly ref: GitRef
  /** Undefined: every cluster. */
  readonly clusters: readonly string[] | undefined
  readonly origin: Origin
}

/** A cluster as the fleet's file or the command line names it. */
export interface DeclaredCluster {
  readonly name: string
  /** A folder of the fleet's own repository, or of what `source` names. */
  readonly path: string
  /** Undefined: the fleet's own repository and branch. */
  readonly source?: { readonly url: string; readonly ref: GitRef }
  /** Absent on the command line. */
  readonly origin?: Origin
}

/** An OCI artifact that holds a folder as it is, of the repository that signs it or else of the fleet's own. */
export interface DeclaredArtifact {
  /** `<host>/<name>:<tag>`. */
  readonly address: string
  readonly path: string
  readonly origin: Origin
}

/** The settings of one tenant, which add to its manifests and limit them. */
export interface TenantConfig {
  readonly name: string
  /** Whether it is the platform itself under a tenant's label: no rule of tenancy applies to it. */
  readonly platform: boolean
  /** Namespaces besides those with its label. */
  readonly namespaces: readonly string[]
  /** Undefined: any. */
  readonly clusters: readonly string[] | undefined
  /** Undefined: what the fleet allows. */
  readonly allowedSources: readonly string[] | undefined
  readonly enforcement: Enforcement | undefined
  readonly profile: Profile | undefined
  /** GitHub's ids of its repositories by normalised address. */
  readonly repositories: ReadonlyMap<string, number>
  /** Undefined: the fleet's file does not name it. */
  readonly origin: Origin | undefined
  /** What its own files add; they can only be stricter than the fleet's. */
  readonly own: OwnConfig | undefined
}

/** What the file in a tenant's own repository says. */
interface OwnConfig {
  readonly severities: ReadonlyMap<string, ConfiguredSeverity>
  /** Each list must allow an address. */
  readonly allowedSources: readonly (readonly string[])[]
  readonly namedRules: readonly NamedRule[]
}

/** A rule that the file refers to; the evaluation checks whether it exists. */
export interface NamedRule {
  readonly id: string
  /** The key that names it, for people. */
  readonly key: string
  readonly origin: Origin
  /** What the rule is to count there. */
  readonly severity?: ConfiguredSeverity
}

/** The settings of a fleet, as plain data with defaults filled in. */
export interface FleetConfig {
  readonly profile: Profile
  /** Whether the fleet's file names the profile. */
  readonly profileDeclared: boolean
  readonly enforcement: Enforcement
  /** Patterns of addresses; undefined: any address. */
  readonly allowedSources: readonly string[] | undefined
  /** Whether a source that is unreadable is a violation. */
  readonly forbidOpaqueSources: boolean
  /** `approve`: what changes the objects of a HelmRelease waits for a fleet admin. */
  readonly unrenderedCharts: 'warn' | 'approve'
  /** Whether values of the platform that are neither rendered nor declared are missing, and not merely unknown. */
  readonly forbidUndeclaredValues: boolean
  readonly tenantSources: TenantSources
  readonly approvedSources: readonly ApprovedSource[]
  readonly gatedBranches: readonly GatedBranch[]
  /** Names of kubeconfig Secrets that tenants may use. */
  readonly allowedKubeConfigs: readonly string[]
  /** Seconds below which an interval is too short. */
  readonly minimumInterval: number
  readonly severities: ReadonlyMap<string, ConfiguredSeverity>
  /** Logins and `org/team`, in lower case: they decide for the fleet besides those who maintain its repository. */
  readonly approvers: readonly string[]
  /** `approve`: a pull request from a fork waits for someone who maintains the repository. */
  readonly forks: 'evaluate' | 'approve'
  /** `approve`: a changed file that what is not visible may apply waits for a fleet admin. */
  readonly unseenChanges: 'approve' | 'list'
  readonly waivers: readonly Waiver[]
  readonly substituteFrom: readonly Declaration[]
  readonly accounts: readonly DeclaredAccount[]
  readonly kinds: readonly DeclaredKind[]
  readonly kubernetes: readonly DeclaredKubernetes[]
  /** Other addresses of repositories. */
  readonly aliases: Aliases
  readonly sources: readonly DeclaredSource[]
  readonly artifacts: readonly DeclaredArtifact[]
  /** Clusters whose start is not found, or that have another name. */
  readonly clusters: readonly DeclaredCluster[]
  readonly tenants: ReadonlyMap<string, TenantConfig>
  readonly namedRules: readonly NamedRule[]
  /** Why the file says nothing. */
  readonly error?: BailiwickError
}

/** What holds where a fleet has no file. */
export const DEFAULT_CONFIG: FleetConfig = {
  profile: 'restricted',
  profileDeclared: false,
  enforcement: 'block',
  allowedSources: undefined,
  forbidOpaqueSources: false,
  unrenderedCharts: 'warn',
  forbidUndeclaredValues: false,
  tenantSources: 'gated',
  approvedSources: [],
  gatedBranches: [],
  allowedKubeConfigs: [],
  minimumInterval: 30,
  severities: new Map(),
  approvers: [],
  forks: 'evaluate',
  unseenChanges: 'approve',
  waivers: [],
  substituteFrom: [],
  accounts: [],
  kinds: [],
  kubernetes: [],
  aliases: new Map(),
  sources: [],
  artifacts: [],
  clusters: [],
  tenants: new Map(),
  namedRules: [],
}

/** By another address of a repository, the address by which the fleet's file calls it; both as normaliseUrl gives them. */
export type Aliases = ReadonlyMap<string, string>

/** The one address of a repository in a fleet: as normaliseUrl gives it, or what the fleet's file says that it stands for. */
export function addressIn(aliases: Aliases, url: string): string {
  const address = normaliseUrl(url)
  return aliases.get(address) ?? address
}

/** The minor version of Kubernetes that the fleet declares for a cluster: its own entry before the one of all clusters. */
export function kubernetesVersion(
  { kubernetes }: Pick<FleetConfig, 'kubernetes'>,
  cluster: string,
): number | undefined {
  const own = kubernetes.find(one => one.cluster === cluster)
  return (own ?? kubernetes.find(one => one.cluster === undefined))?.version
}
