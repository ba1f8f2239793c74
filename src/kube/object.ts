import type { BailiwickError } from '../base/errors.ts'
import type { Origin, Step } from '../base/origin.ts'
import { type Listing, type Made, type MapNode, type Node, type Path, stringAt } from './node.ts'

/** One Kubernetes object as it would be applied; each field knows who wrote it. */
export interface KubeObject {
  readonly root: MapNode
  /** The overlays and components that it passed, innermost first. */
  readonly trail: readonly Step[]
  /** The block that SOPS left in an encrypted object, where Flux drops it before it applies. */
  readonly sops?: Node
  /** As it was built, where Flux decrypts it later and it was not decrypted here: its values are unknown. */
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

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const PART = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Namespaces that Kubernetes makes itself, for its own objects. */
export const KUBERNETES_NAMESPACES = ['kube-node-lease', 'kube-public', 'kube-system']

/** A namespace's name as the API server accepts it (RFC 1123 label). */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && LABEL.test(text)
}

/** A service account's name as the API server accepts it (RFC 1123 subdomain). */
export function isSubdomain(text: string): boolean {
  return text.length > 0 && text.length <= 253 && text.split('.').every(part => PART.test(part))
}

const LABEL_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/** A label's key as the API server accepts it: a name, before it maybe a subdomain and a slash. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/')
  const name = text.slice(slash + 1)
  return (slash < 0 || isSubdomain(text.slice(0, slash))) && name.length <= 63 && LABEL_PART.test(name)
}

/** A label's value as the API server accepts it; it may be empty. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && LABEL_PART.test(text))
}

const TEMPLATE: Path = ['spec', 'template', 'spec']

/** Where the kinds of Kubernetes keep the spec of their pods, by `<group>/<Kind>`. `extensions` served some until 1.16. */
export const POD_SPEC_PATHS: ReadonlyMap<string, Path> = new Map<string, Path>([
  ['/Pod', ['spec']],
  ['/PodTemplate', ['template', 'spec']],
  ['/ReplicationController', TEMPLATE],
  ['apps/Deployment', TEMPLATE],
  ['apps/StatefulSet', TEMPLATE],
  ['apps/DaemonSet', TEMPLATE],
  ['apps/ReplicaSet', TEMPLATE],
  ['extensions/Deployment', TEMPLATE],
  ['extensions/DaemonSet', TEMPLATE],
  ['extensions/ReplicaSet', TEMPLATE],
  ['batch/Job', TEMPLATE],
  ['batch/CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
  ['batch/JobTemplate', ['template', 'spec', 'template', 'spec']],
])

/** The annotations of the pods whose spec lies at `path`. */
export const annotationsOf = (path: Path): Path => [...path.slice(0, -1), 'metadata', 'annotations']

/** The object, which remembers the list that it was an item of: nothing else of that list is left in a build. */
export function listed(object: MapNode, list: MapNode): MapNode {
  return { ...object, listing: listingOf(list) }
}

/** What the items of a list remember of it. */
export function listingOf(list: MapNode): Listing {
  const textOf = (key: string) => stringAt(list, [key]) ?? ''
  return { apiVersion: textOf('apiVersion'), kind: textOf('kind'), isNested: list.listing !== undefined }
}

/** A part of a build that was taken out, so that the rest could be built and evaluated. */
export interface Hole {
  /** Why: code, message, place and fix. */
  readonly error: BailiwickError
  /** True: kustomize or Flux refuses the whole build for it, so the cluster keeps its previous revision. False: only we cannot. */
  readonly fatal: boolean
  /**
   * `missing`: objects may be absent, and references to them may be as they were written. `different`: objects that are
   * there may have other fields on the cluster, and others may be absent, too.
   */
  readonly effect: 'missing' | 'different'
  /** Digest of all bytes that it hides. Two holes with the same cause and the same digest hide the same. */
  readonly hides: string
  /** The address, where what is missing lies in no repository that was given. */
  readonly remote?: string
  /** It needs what an earlier hole may have brought. */
  readonly follows?: true
}
