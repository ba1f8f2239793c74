import type { Origin, Step } from '../origin.ts'
import type { Listing, Made, MapNode, Node } from './node.ts'

/** One Kubernetes object as it would be applied; each field knows who wrote it. */
export interface KubeObject {
  readonly root: MapNode
  /** The overlays and components that it passed, innermost first. */
  readonly trail: readonly Step[]
  /** The block that SOPS left in an encrypted object, where Flux drops it before it applies. */
  readonly sops?: Node
  /** As it was built, where Flux decrypts it after that and nobody here has: what it is on the cluster is not known. */
  readonly sealed?: MapNode
  /** Its ownerReferences where Flux drops them because they are empty: on what stands they would take owners away. */
  readonly owners?: Node
  /** Its namespace where it is written as null and Flux drops it. */
  readonly nullNamespace?: Node
  /** The list that it was an item of. */
  readonly listing?: Listing
  /** Values in it that substitution made of more than a plain variable. */
  readonly made?: readonly Made[]
  /** Of the first object of a build: characters of its files that are not seen, or change the order in which others are. */
  readonly unseen?: readonly Unseen[]
  /** Of the first object of a build: entries of patches whose target selected nothing. */
  readonly unmatched?: readonly UnmatchedPatch[]
}

/** A character that people do not see, or that changes the order in which they see the others. */
export interface Unseen {
  /** `U+202E`. */
  readonly character: string
  readonly origin: Origin
}

/** A patch that changes nothing. */
export interface UnmatchedPatch {
  readonly origin: Origin
  /** `kind: Deployment, name: web`. */
  readonly target: string
}

/** What names an object in a cluster; `namespace` is '' for none. Identity ignores the version. */
export interface ObjectId {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** Identity of an object; an absent part is ''. */
export function idOf(object: KubeObject): ObjectId {
  const { fields } = object.root
  const metadata = fields.get('metadata')?.value
  const names = metadata?.type === 'map' ? metadata.fields : undefined
  return {
    apiVersion: textOf(fields.get('apiVersion')?.value),
    kind: textOf(fields.get('kind')?.value),
    namespace: textOf(names?.get('namespace')?.value),
    name: textOf(names?.get('name')?.value),
  }
}

const textOf = (node: Node | undefined): string =>
  node?.type === 'scalar' && typeof node.value === 'string' ? node.value : ''

/** API group of an apiVersion: '' for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** `Deployment apps/web`, or `ClusterRole web` for an object without a namespace. */
export function display(id: ObjectId): string {
  return id.namespace ? `${id.kind} ${id.namespace}/${id.name}` : `${id.kind} ${id.name}`
}
