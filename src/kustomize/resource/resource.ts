import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import {
  at,
  type Field,
  type Listing,
  type MapNode,
  type Node,
  type Path,
  type ScalarNode,
  writtenText,
} from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'

/** The paths that name an object. */
export const IDENTITY: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
]

/** What kustomize identifies an object by. `namespace` is the one in effect: 'default' for none. */
export interface ResourceId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The namespace that kustomize gives to objects which cannot have one. */
export const NO_NAMESPACE = '_non_namespaceable_'

/** A generator's settings for an object that it made. */
interface Generated {
  /** The name gets a hash of the content. */
  readonly needsHash?: boolean
  readonly behavior?: 'create' | 'merge' | 'replace'
}

/** An object on its way through a build; the ids that it had before are what patches and references may still name. */
export class Resource {
  readonly previous: ResourceId[] = []
  /** Prefixes and suffixes that its name got, innermost first. */
  readonly prefixes: string[] = []
  readonly suffixes: string[] = []
  trail: readonly Step[]
  needsHash: boolean
  /** Some values in it may be one value at several places. */
  hasShared = false
  private readonly isGenerated: boolean
  readonly behavior?: 'create' | 'merge' | 'replace'
  /** The list that it was an item of. */
  readonly listing: Listing | undefined
  /** Where to note that the object changed: a lookup by id reads that first. */
  changes: Set<Resource> | undefined
  private content: MapNode
  private id: ResourceId | undefined
  private idKey: string | undefined
  /** The content that the id was made from. */
  private idSource: MapNode | undefined
  private ids: readonly ResourceId[] = []
  /** As they are written, with the content and the number of past ids that they were made from. */
  private written: { readonly root: MapNode; readonly past: number; readonly ids: readonly ResourceId[] } | undefined

  constructor(root: MapNode, trail: readonly Step[], generated: Generated = {}) {
    this.content = root
    this.listing = root.listing
    this.trail = trail
    this.needsHash = generated.needsHash ?? false
    this.isGenerated = Object.keys(generated).length > 0
    if (generated.behavior) this.behavior = generated.behavior
  }

  get root(): MapNode {
    return this.content
  }

  set root(root: MapNode) {
    if (root === this.content) return
    this.content = root
    this.changes?.add(this)
  }

  /** Whether kustomize keeps notes about it, among its annotations. */
  get hasNotes(): boolean {
    return this.isGenerated || this.previous.length > 0
  }

  /** The object as it is now, which changes of this one leave alone. It is in no list. */
  copy(): Resource {
    const copy: Resource = Object.assign(Object.create(Resource.prototype), this)
    const own = { previous: [...this.previous], prefixes: [...this.prefixes], suffixes: [...this.suffixes] }
    return Object.assign(copy, own, { changes: undefined })
  }

  /** New content in which fields have got other values, those that are shared with other places everywhere. */
  overwrite(root: MapNode): void {
    this.root = this.hasShared ? settleShared(this.content, root) : root
  }

  /** Identity that the object has now; the same one as long as it does not change. */
  get current(): ResourceId {
    const root = this.content
    const source = this.idSource
    if (this.id && source && (source === root || samePlaces(source, root))) return this.id
    this.idSource = root
    const id = idOfRoot(root)
    if (this.id && sameId(this.id, id)) return this.id
    this.id = id
    this.idKey = undefined
    return id
  }

  /** Text of the identity of now. */
  get key(): string {
    const id = this.current
    this.idKey ??= keyOfId(id)
    return this.idKey
  }

  /** Ids the object had or has, oldest first. The group and version of past ids are those of today, as in kustomize. */
  get all(): readonly ResourceId[] {
    const current = this.current
    const known = this.ids
    if (known.length === this.previous.length + 1 && known.at(-1) === current) return known
    const { group, version } = current
    const past = this.previous.map(id =>
      id.group === group && id.version === version ? id : { ...id, group, version },
    )
    this.ids = [...past, current]
    return this.ids
  }

  /** The identity of now with its namespace as it is written, '' for none, and then those of before. */
  get writtenIds(): readonly ResourceId[] {
    const { content, previous, current, written } = this
    if (written?.root === content && written.past === previous.length) return written.ids
    const namespace = writtenText(at(content, ['metadata', 'namespace']))
    const now = namespace === current.namespace ? current : { ...current, namespace }
    const ids = [now, ...(previous.length === 0 ? [] : this.all.slice(0, -1))]
    this.written = { root: content, past: previous.length, ids }
    return ids
  }

  /**
   * Keeps the identity of now as one that the object had. Throws `kustomize-unsupported` for a name with a comma, which
   * kustomize takes apart (it keeps such names in a list of text).
   */
  remember(): void {
    const id = this.current
    if (id.name.includes(',') || id.namespace.includes(',') || id.kind.includes(',')) {
      const message = `${describe(id)}: the name contains a comma, which kustomize reads as two names`
      throw new BailiwickError('kustomize-unsupported', message, { origin: resourceOrigin(this) })
    }
    if (id.name !== '') this.previous.push(id)
  }
}

/** A fresh resource around a document. */
export function makeResource(root: MapNode, trail: readonly Step[] = [], generated: Generated = {}): Resource {
  return new Resource(root, trail, generated)
}

/** Identity that an object has now. */
export function currentId(resource: Resource): ResourceId {
  return resource.current
}

/** Ids an object had or has, oldest first. */
export function allIds(resource: Resource): readonly ResourceId[] {
  return resource.all
}

/** Identity that an object had first. */
export function originalId(resource: Resource): ResourceId {
  const { current, previous } = resource
  const [first] = previous
  if (!first) return current
  const { group, version } = current
  return first.group === group && first.version === version ? first : { ...first, group, version }
}

/** Text of an identity; equal texts are equal identities. */
export function keyOfId({ group, version, kind, namespace, name }: ResourceId): string {
  return `${name}\0${namespace}\0${kind}\0${group}\0${version}`
}

/** Whether two contents have the very same nodes where an identity stands. */
function samePlaces(a: MapNode, b: MapNode): boolean {
  return (
    a.fields.get('metadata')?.value === b.fields.get('metadata')?.value &&
    a.fields.get('kind')?.value === b.fields.get('kind')?.value &&
    a.fields.get('apiVersion')?.value === b.fields.get('apiVersion')?.value
  )
}

/** Identity of a document that is on no way through a build, such as a patch. */
export function idOfRoot(root: MapNode): ResourceId {
  const metadata = root.fields.get('metadata')?.value
  const names = metadata?.type === 'map' ? metadata.fields : undefined
  const apiVersion = textOf(root.fields.get('apiVersion')?.value)
  const kind = textOf(root.fields.get('kind')?.value)
  const namespace = textOf(names?.get('namespace')?.value)
  const name = textOf(names?.get('name')?.value)
  const group = groupOf(apiVersion)
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const isCluster = isClusterScoped(group === '' ? version : apiVersion, kind)
  // empty counts as `default`
  return { group, version, kind, namespace: isCluster ? NO_NAMESPACE : namespace || 'default', name }
}

const textOf = (node: Node | undefined): string =>
  node?.type === 'scalar' && typeof node.value === 'string' ? node.value : ''

/** Whether two ids agree in every part. */
function sameId(a: ResourceId, b: ResourceId): boolean {
  return (
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.group === b.group &&
    a.version === b.version
  )
}

/** Where to point for a whole object: its kind. */
export function resourceOrigin(resource: Resource, path: Path = ['kind']): Origin {
  return at(resource.root, path)?.origin ?? resource.root.origin
}

/** `Kind name` with its namespace, for messages. */
export function describe(id: ResourceId): string {
  const where = id.namespace === NO_NAMESPACE ? '' : `${id.namespace}/`
  return `${id.kind} ${where}${id.name}`
}

/** The finished object. */
export function toKubeObject(resource: Resource, root: MapNode = resource.root): KubeObject {
  const { trail, listing } = resource
  return {
    root,
    trail,
    ...(listing ? { listing } : {}),
  }
}

/**
 * `after` with every write to a shared value also at the other places of that value. A label that kustomize adds to
 * several places of an object is one and the same value there (kyaml's FieldSetter appends the node that it was given),
 * so setting one of them later sets all. Throws `kustomize-unsupported` where such a value becomes a map or a list.
 */
function settleShared(before: MapNode, after: MapNode): MapNode {
  const written = new Map<object, ScalarNode>()
  const marked = mark(before, after, written)
  return (written.size === 0 ? marked : mapScalars(marked, node => share(node, written))) as MapNode
}

/** The same object with no value shared: what has been written to JSON and read back. */
export function withoutShared<T extends Node>(node: T): T {
  return mapScalars(node, ({ shared: _, ...rest }) => rest) as T
}

function mark(before: Node | undefined, after: Node, written: Map<object, ScalarNode>): Node {
  if (before === after || before === undefined) return after
  if (before.type === 'scalar') return before.shared ? markScalar(before, before.shared, after, written) : after
  if (before.type === 'map' && after.type === 'map') {
    return mapFields(after, (key, value) => mark(before.fields.get(key)?.value, value, written))
  }
  if (before.type !== 'list' || after.type !== 'list') return after
  return mapItems(after, (item, index) => mark(before.items[index], item, written))
}

function markScalar(before: ScalarNode, shared: object, after: Node, written: Map<object, ScalarNode>): Node {
  if (after.type !== 'scalar') {
    const message =
      'a label or annotation that kustomize shares between several fields is changed in one of them, which is not supported'
    throw new BailiwickError('kustomize-unsupported', message, { origin: after.origin })
  }
  const marked = { ...after, shared }
  if (after.value !== before.value || after.text !== before.text) written.set(shared, marked)
  return marked
}

function share(node: ScalarNode, written: ReadonlyMap<object, ScalarNode>): ScalarNode {
  return (node.shared && written.get(node.shared)) ?? node
}

function mapScalars(node: Node, edit: (node: ScalarNode) => ScalarNode): Node {
  if (node.type === 'scalar') return node.shared ? edit(node) : node
  if (node.type === 'list') return mapItems(node, item => mapScalars(item, edit))
  return mapFields(node, (_, value) => mapScalars(value, edit))
}

function mapItems(list: Node & { type: 'list' }, edit: (item: Node, index: number) => Node): Node {
  const items = list.items.map(edit)
  return items.some((item, index) => item !== list.items[index]) ? { ...list, items } : list
}

function mapFields(map: MapNode, edit: (key: string, value: Node) => Node): MapNode {
  let fields: Map<string, Field> | undefined
  for (const [key, field] of map.fields) {
    const value = edit(key, field.value)
    if (value === field.value) continue
    fields ??= new Map(map.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...map, fields } : map
}

/**
 * The kinds that kustomize knows to be cluster-scoped, by apiVersion (its table `precomputedIsNamespaceScoped`, 5.8.1).
 * Every other kind counts as namespaced there, custom resources included.
 */
const CLUSTER_SCOPED: ReadonlyMap<string, readonly string[]> = new Map([
  ['admissionregistration.k8s.io/v1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['admissionregistration.k8s.io/v1beta1', ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']],
  ['apiextensions.k8s.io/v1', ['CustomResourceDefinition']],
  ['apiextensions.k8s.io/v1beta1', ['CustomResourceDefinition']],
  ['apiregistration.k8s.io/v1', ['APIService']],
  ['apiregistration.k8s.io/v1beta1', ['APIService']],
  ['certificates.k8s.io/v1', ['CertificateSigningRequest']],
  ['certificates.k8s.io/v1beta1', ['CertificateSigningRequest']],
  ['flowcontrol.apiserver.k8s.io/v1beta1', ['FlowSchema', 'PriorityLevelConfiguration']],
  ['networking.k8s.io/v1', ['IngressClass']],
  ['networking.k8s.io/v1beta1', ['IngressClass']],
  ['node.k8s.io/v1', ['RuntimeClass']],
  ['node.k8s.io/v1beta1', ['RuntimeClass']],
  ['policy/v1beta1', ['PodSecurityPolicy']],
  ['rbac.authorization.k8s.io/v1', ['ClusterRole', 'ClusterRoleBinding']],
  ['rbac.authorization.k8s.io/v1beta1', ['ClusterRole', 'ClusterRoleBinding']],
  ['scheduling.k8s.io/v1', ['PriorityClass']],
  ['scheduling.k8s.io/v1beta1', ['PriorityClass']],
  ['storage.k8s.io/v1', ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment']],
  ['storage.k8s.io/v1beta1', ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment']],
  ['v1', ['ComponentStatus', 'Namespace', 'Node', 'NodeProxyOptions', 'PersistentVolume']],
])

/** Whether kustomize is certain that objects of this kind have no namespace. */
function isClusterScoped(apiVersion: string, kind: string): boolean {
  return CLUSTER_SCOPED.get(apiVersion)?.includes(kind) ?? false
}

/** Whether a value, or one in it, is unknown: during a build, one of a Secret that Flux makes of an encrypted file. */
export function isUnknown(node: Node | undefined): boolean {
  if (!node) return false
  if (node.type === 'scalar') return node.opaque !== undefined
  if (node.type === 'list') return node.items.some(isUnknown)
  for (const { value } of node.fields.values()) if (isUnknown(value)) return true
  return false
}

/** Throws `kustomize-unsupported` where a build would copy, cut or compare a value that is unknown. */
export function refuseUnknown(node: Node | undefined, origin: Origin): void {
  if (!isUnknown(node)) return
  const message = 'this field depends on an encrypted value, which only the cluster can decrypt'
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    fix: 'Do not patch or copy the data of that Secret.',
  })
}
