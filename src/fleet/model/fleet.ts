import type { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { Manifest } from '../../flux/installed-rbac.ts'
import type { OpenedValues } from '../../flux/render-kustomization.ts'
import type { Tree } from '../../git/tree.ts'
import { type Hole, idOf, type KubeObject } from '../../kube/object.ts'
import type { SopsFormat } from '../../kube/sops.ts'
import type { FleetConfig } from './fleet-config.ts'
import type { AskedRepository, SourceAccess } from './source-access.ts'
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
  /** The platform renders the Kustomization in two versions, which are a node each. The second is named after its parent, too. */
  readonly inVersions?: true
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
  /** JSON text of `spec.verify`: the worker asks the cluster whether Flux accepted the signature. */
  readonly verify?: string
  /** Only a tenant's declaration leads there: its repository is not gated by it, and nothing is published on it. */
  readonly lent?: true
  /** The other sources whose content a generator or a remote base puts into this one's. */
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

/** What another source's content is part of: a change of it is a change there. */
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
  /** Encrypted files whose MAC does not hold; only where a key was at hand to check it. */
  readonly brokenSeals?: readonly BrokenSeal[]
}

/** An encrypted file that was changed without its key; `why` as in verifyMac. */
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

/**
 * How it is known that a folder is what a cluster starts from. `sync`: a source and the Kustomization that follows it;
 * `flux-instance`: the `sync` of a FluxInstance; `declared`: the fleet's file or the command line; `layout`: a folder
 * `clusters/<name>`; `assumed`: its Kustomizations follow this repository and nothing else leads to them.
 */
type RootKind = 'sync' | 'flux-instance' | 'declared' | 'layout' | 'assumed'

/** Another object that starts the same folder with the same content. */
export interface OtherStart {
  readonly file: string
  /** What it says, to tell it from others. */
  readonly text: string
}

/** A folder of the fleet's own repository that a cluster starts from. */
export interface ClusterRoot {
  /** Name of the cluster: unique in its fleet, without a slash. */
  readonly name: string
  /** The folder; '' is the root of the repository. */
  readonly path: string
  readonly how: RootKind
  /** Of a folder of the layout: it holds other folders only. */
  readonly bare?: true
  /** Only the base of the change has it: once the change is merged, nothing of the cluster is evaluated. */
  readonly former?: true
  /** What else says so, in other words. */
  readonly otherStarts?: readonly OtherStart[]
  /** What says so; absent for a folder of the layout. */
  readonly origin?: Origin
  /** The Kustomization that the cluster starts with, where the repository holds it. */
  readonly kustomization?: KubeObject
  /** The source that this follows, where the repository holds it. */
  readonly source?: KubeObject
  /** The FluxInstance that makes both, as it is written or as its chart makes it. */
  readonly instance?: KubeObject
}

/** What the data of a ConfigMap or Secret holds, by key; null for bytes that are no text. */
export type ReadData = ReadonlyMap<string, string | null>

/** What was read on a cluster for one Kustomization, as its account. Secret. */
export interface NodeValues {
  /** By `<Kind>/<namespace>/<name>`; null: the cluster has none. */
  readonly objects: ReadonlyMap<string, ReadData | null>
  /** Encrypted files of its source in clear, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What is encrypted in its objects. */
  readonly sealed: OpenedValues
}

/** An encrypted patch, or an encrypted file that Secrets of a Kustomization are generated from. */
export interface SealedFile {
  /** In its source. */
  readonly path: string
  /** As which it is opened. */
  readonly format: SopsFormat
  /** As it is encrypted. */
  readonly text: string
}

/**
 * What only clusters have, read by the worker. With it, a fleet is built and evaluated once more before anything that
 * depends on it is applied.
 */
export interface ClusterValues {
  /** Keyed hash of all of it, so that no value can be guessed from it. */
  readonly digest: string
  /** By the key of the node. */
  readonly nodes: ReadonlyMap<string, NodeValues>
}

/** A ConfigMap or Secret in the namespace of a Kustomization that it substitutes from, whose values git does not say. */
export interface ValueNeed {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly optional: boolean
}

/** Whether a node is the version of a Kustomization beside the one that bears its name. */
export const isSecondVersion = ({ inVersions, name, kustomization }: FleetNode): boolean =>
  inVersions === true && name !== idOf(kustomization).name

/** Key of a node. Names that Kubernetes would refuse are made harmless: the key stands in logs and reports. */
export function nodeKey(cluster: string, id: { readonly namespace: string; readonly name: string }): string {
  const plain = (text: string) => text.slice(0, 253).replace(/[^\w.:-]/g, '?')
  return `${cluster}/${plain(id.namespace)}/${plain(id.name)}`
}

/** Whether all objects of a node are known. */
export const isComplete = ({ digest }: Pick<FleetNode, 'digest'>): boolean => digest !== ''

/** Whether a node did not build as a whole; one that waits for content that is still to be read is not decided yet. */
export function isIncomplete(node: Pick<FleetNode, 'digest' | 'source' | 'remotes'>): boolean {
  const sources = [node.source, ...(node.remotes ?? [])]
  return !isComplete(node) && sources.every(({ opaque }) => opaque !== WANTED && opaque !== ASKED)
}

/** Why not all of what a node renders is known: its error, or the first of what was left out of it. */
export function whyIncomplete({ error, holes = [] }: Pick<FleetNode, 'error' | 'holes'>): BailiwickError | undefined {
  return error ?? holes[0]?.error
}

/** Reason of a source that is not read yet; such a graph is not complete. */
export const WANTED = 'it has not been read yet'

/** Reason of a source of which it is not known yet whether it may be read; such a graph is not complete either. */
export const ASKED = 'the permission to read it has not been checked yet'

/** Whose namespaces are now; `givenTo`: by the word of the platform. */
interface Owned {
  readonly owners: ReadonlyMap<string, string>
  givenTo(namespace: string): string | undefined
}

/**
 * Namespaces that had a tenant and that the platform gives to no one now. Left out: those given to another tenant, and
 * those that a tenant made for itself, which that tenant may drop.
 */
export function lostOwners(before: Cluster | undefined, now: Owned): ReadonlyMap<string, string> {
  const isLost = ([namespace, tenant]: readonly [string, string]) =>
    now.owners.get(namespace) !== tenant && now.givenTo(namespace) === undefined && !before?.selfMade?.has(namespace)
  return new Map([...(before?.owners ?? [])].filter(isLost))
}

/** The nodes of a fleet by their keys. */
export const nodesByKey = oncePer(
  (nodes: readonly FleetNode[]): ReadonlyMap<string, FleetNode> => new Map(nodes.map(node => [node.key, node])),
)
