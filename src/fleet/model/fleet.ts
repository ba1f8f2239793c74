import type { BailiwickError } from '../../errors.ts'
import type { Manifest } from '../../flux/installed-rbac.ts'
import type { Tree } from '../../git/tree.ts'
import type { Hole } from '../../kube/hole.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../origin.ts'
import type { OtherStart, RootKind } from './cluster-root.ts'
import type { SealedFile, ValueNeed } from './cluster-values.ts'
import type { FleetConfig } from './fleet-config.ts'
import type { AskedRepository } from './read-access.ts'
import type { SourceAccess } from './source-access.ts'
import type { SourceRef, WantedSource } from './source-ref.ts'

/** Who applies a node: the user that is impersonated. Never empty. */
export interface Identity {
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly user: string
  /** False: the Kustomization names no account and no lockdown default holds, so Flux's controller itself would apply it. */
  readonly impersonated: boolean
}

/** One Flux Kustomization on one cluster: the unit of rendering, evaluation and apply. */
export interface FleetNode {
  /** `<cluster>/<namespace>/<name>`, of the cluster on which its Kustomization stands. */
  readonly key: string
  /** Where what it renders is applied: the cluster on which it stands, or the one that its kubeConfig names. */
  readonly cluster: string
  /** The cluster on which its Kustomization stands and whose Flux applies it, where that is another one. */
  readonly hub?: string
  readonly namespace: string
  readonly name: string
  /** Key of the node that renders this Kustomization; absent for the root of the cluster. */
  readonly parent?: string
  readonly identity: Identity
  /** Name of the tenant it belongs to; absent for the platform's own nodes. */
  readonly tenant?: string
  /** The Flux Kustomization object (the root's may be synthetic). */
  readonly kustomization: KubeObject
  readonly source: NodeSource
  /** Where the charts come from that it deploys for a tenant, as far as they come from git. */
  readonly charts?: readonly ChartSource[]
  /** Repositories at a commit that its build names and whose content is not at hand. */
  readonly remotes?: readonly ChartSource[]
  readonly path: string
  readonly dependsOn: readonly string[]
  readonly suspend: boolean
  readonly prune: boolean
  /**
   * What it renders, as far as it could be built: with holes, what is left after they were taken out (for findings only,
   * never applied). Empty where nothing could be built or an opaque source says why.
   */
  readonly objects: readonly KubeObject[]
  /** SHA-256 of the canonical objects in order: what is evaluated is what is applied. '' without all objects being known. */
  readonly digest: string
  /** Why nothing of it is applied: Flux refuses it. Set where a hole is fatal, and where nothing could be built. */
  readonly error?: BailiwickError
  /** What was taken out of the build. */
  readonly holes?: readonly Hole[]
  /** With holes or an error: objects that its last complete build had and `objects` lacks. They count as facts, not as findings. */
  readonly retained?: readonly KubeObject[]
  /** It does not build, and neither did it in any commit that was looked at: what it restricts is not known. */
  readonly unknown?: true
  /** With `error`: hash of everything that the failed rendering read, so that "the change does not touch it" is known. */
  readonly inputs?: string
  /** With an error or holes: digest of the values from elsewhere that Flux puts into what it renders. */
  readonly values?: string
  /** What it substitutes from and git does not say all of. */
  readonly needs?: readonly ValueNeed[]
  /** Its encrypted patches, and the encrypted files that its Secrets are generated from. */
  readonly sealedFiles?: readonly SealedFile[]
  /** Of a platform node with an error or holes: the repositories that what is not seen names, which it may lead to (see isNamed). */
  readonly hides?: readonly string[]
}

export interface NodeSource {
  /** `<Kind>/<namespace>/<name>` of the Flux source. */
  readonly id: string
  readonly url: string
  readonly ref: SourceRef
  /** '' for a working copy or an opaque source. */
  readonly commit: string
  /** The tag that a range of versions stands for. */
  readonly tag?: string
  /** Of an artifact in a registry: the revision that it was built from, as it says itself. */
  readonly originRevision?: string
  /** Why its content was not seen. */
  readonly opaque?: string
  /** Nothing declares it, and it is taken for the fleet's own repository, which has all folders that are applied of it. */
  readonly presumed?: true
  /** With `opaque`: nothing in git says what it follows. */
  readonly unmatched?: UnmatchedSource
  /** The OCI artifact by which its content comes from git. */
  readonly artifact?: SourceArtifact
  /** JSON text of `spec.verify`: whoever applies it asks the cluster whether Flux accepted the signature. */
  readonly verify?: string
  /** Only a tenant's declaration leads there: its repository is not gated by it, and nothing is published on it. */
  readonly lent?: true
  /** The sources whose content `spec.include` puts into this one's, those that they include too. */
  readonly includes?: readonly IncludedSource[]
}

/** An OCI artifact that holds what a repository does. */
export interface SourceArtifact {
  /** With its tag. */
  readonly address: string
  /** Directory of the repository that is its root; '' for all of it. */
  readonly folder: string
  /** What decides which content comes, of the OCIRepository. */
  readonly trust: string
  /** Where nothing proves that the artifact holds what the repository does: what says so, and how it would be proven. */
  readonly assumed?: string
  /** No declaration names it: true only as long as every folder that is applied of it exists. */
  readonly presumed?: true
  /** Files of the repository that decide what its workflows push. */
  readonly pushedBy: readonly PushingFile[]
}

/** A file, or the folder of a local action, that decides what a workflow pushes. */
export interface PushingFile {
  readonly path: string
  readonly id: string
}

/** Why nothing in git says what a source follows, and where the reference to it stands. */
export interface UnmatchedSource {
  /** `no-object`: no manifest of the fleet declares it. `other-address`: a cluster follows another address than this repository's. */
  readonly why: 'no-object' | 'other-address'
  readonly origin: Origin
}

/** A source in git of charts that the releases of a node deploy; `opaque`: why its content was not seen. */
export type ChartSource = IncludedSource & { readonly opaque?: string }

/** What a source includes: a change of it is a change of what includes it. */
export type IncludedSource = Pick<NodeSource, 'id' | 'url' | 'ref' | 'commit' | 'lent' | 'verify'>

export interface Tenant {
  readonly name: string
  readonly clusters: readonly string[]
  readonly namespaces: readonly string[]
  readonly identities: readonly string[]
}

export interface Cluster {
  readonly name: string
  /** Directory of the fleet repository, `clusters/<name>` for most; '' is its root. */
  readonly path: string
  /** How it is known that a cluster starts there. */
  readonly how: RootKind
  /** Only the fleet before the change has it: once that is merged, nothing of it is evaluated. */
  readonly former?: true
  /** What else in the repository says that it starts there, of which nothing is evaluated. */
  readonly otherStarts?: readonly OtherStart[]
  /** Files in folders of its tenants that would start a cluster, each with the folder that this would apply. */
  readonly tenantStarts?: readonly OtherStart[]
  /** The cluster whose Flux applies to this one by a kubeconfig: what it has is only what its hub gives it. */
  readonly hub?: string
  readonly lockdown: Lockdown
  /** What the root shows by itself, where it does not build as a whole and `lockdown` holds flags of its last complete build. */
  readonly shownLockdown?: Lockdown
  /** Of `owners`: namespaces that only the fleet before the change gives to their tenant. */
  readonly formerOwners?: ReadonlyMap<string, string>
  /** Which tenant each namespace belongs to; a namespace that is not here is the platform's. */
  readonly owners?: ReadonlyMap<string, string>
  /** Of `owners`: namespaces that a tenant made for itself, as Capsule lets it. */
  readonly selfMade?: ReadonlySet<string>
  /** Tenants by the accounts outside of their namespaces that may write there and nowhere else; absent where none could. */
  readonly delegates?: ReadonlyMap<string, string>
  /** Users and groups that own Capsule Tenants, by the name of the tenant. */
  readonly capsuleOwners?: ReadonlyMap<string, ReadonlySet<string>>
}

/** Flux's multi-tenancy flags as the cluster's manifests or their patches set them. */
export interface Lockdown {
  readonly noCrossNamespaceRefs: boolean
  readonly noRemoteBases: boolean
  readonly defaultServiceAccount?: string
  /** The same flag of helm-controller. */
  readonly helmDefaultServiceAccount?: string
  /** Whether a variable that is not set is an error; absent: true, as in Flux 2.9 and later. */
  readonly strictSubstitution?: boolean
  /** What the flags were read from; absent where nothing of Flux is to be seen. Plain JSON, as all of this. */
  readonly flux?: FluxInstallation
}

/** Where a cluster's Flux comes from, and how its controllers are started. */
export interface FluxInstallation {
  /** `patches`: the fleet holds only what is done to the Deployments, not these themselves. */
  readonly from: 'deployments' | 'patches' | 'flux-instance'
  /** As it is written; may be a range. */
  readonly version?: string
  readonly controllers: readonly FluxController[]
  /** Its roles and bindings, where they are not rendered and patches change what that version installs. */
  readonly rbac?: readonly Manifest[]
}

export interface FluxController {
  readonly name: string
  /** Of another instance, such as a shard: the controller that it runs. */
  readonly runs?: string
  readonly origin: Origin
  /** In the order of the command line; of one name the last counts. */
  readonly flags: readonly ControllerFlag[]
}

export interface ControllerFlag {
  readonly name: string
  readonly value: string
  readonly origin: Origin
}

/** What every cluster would get, and what could not be seen. Deterministic order: clusters by name, nodes parents first. */
export interface Fleet {
  readonly clusters: readonly Cluster[]
  readonly tenants: readonly Tenant[]
  readonly nodes: readonly FleetNode[]
  /** Not empty: the graph is not complete yet, read these and build again. */
  readonly wanted: readonly WantedSource[]
  readonly notSeen: readonly NotSeen[]
  /** Flux Kustomizations that stand in the fleet's own repository and become no node, in the order of its files. */
  readonly notReached: readonly NotReached[]
  /** The content that it was built from, the fleet's own repository first. */
  readonly repositories: readonly FleetRepository[]
  /** What the fleet's own file says, as it was before the change, with what the tenants' own files tighten. */
  readonly config: FleetConfig
  /** What the fleet's own file says after the change: it counts once it is merged, and must be readable before. */
  readonly proposed: FleetConfig
  /** Rules that the operator of this process switched off. */
  readonly disabledRules?: readonly string[]
  /** Repositories about which a fact is needed to decide whether they may be read: get it and build again. */
  readonly asked?: readonly AskedRepository[]
  /** What it declares about its sources; only where it is decided who may read them. */
  readonly access?: SourceAccess
  /** Encrypted files whose MAC does not hold; only where someone had the key and looked. */
  readonly brokenSeals?: readonly BrokenSeal[]
}

/** An encrypted file that someone changed without its key; `why` as in verifyMac. */
export interface BrokenSeal {
  readonly why: 'changed' | 'corrupt' | 'locked'
  readonly url: string
  readonly ref: SourceRef
  readonly file: string
}

/** The content of a repository at what a source follows. */
export interface FleetRepository {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  readonly tree: Tree
}

export interface NotSeen {
  /** `<Kind>/<namespace>/<name>`. */
  readonly source: string
  /** '' for values. */
  readonly url: string
  readonly reason: string
  /**
   * `values`: a ConfigMap or Secret that only a cluster has. `files`: what a build fetches from elsewhere. `objects`: what a
   * controller makes on the cluster. `facts`: what a Kustomization restricts that never built. `content`: a source whose
   * content is evaluated as what git has, which nothing proves. Absent: a source.
   */
  readonly what?: 'values' | 'files' | 'objects' | 'facts' | 'content'
}

/** A Flux Kustomization that no cluster builds, so that nothing is known about what it would apply. */
export interface NotReached {
  /** `<namespace>/<name>` as it is written; without a namespace where an overlay would give one. */
  readonly id: string
  readonly origin: Origin
  readonly reason: string
}
