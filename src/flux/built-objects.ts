import { BailiwickError } from '../base/errors.ts'
import { message, part } from '../base/message.ts'
import {
  at,
  type Field,
  isAbsent,
  type MapNode,
  type Node,
  stringAt,
  textNode,
  withField,
  withoutField,
  withValueAt,
} from '../kube/node.ts'
import { idOf, type KubeObject, listingOf } from '../kube/object.ts'
import { goRoundTrip, goTypeOf } from './go-round-trip.ts'
import { specText, type TextNode, wrongType } from './merge-spec.ts'

/**
 * What Flux makes of a build: anything with a list called `items` is taken for a list and replaced by its items, and
 * kustomization files that were listed as resources are dropped. Integers beyond 64 bits become floats. Throws `invalid-object` for one
 * without identity: Flux leaves out one whose name a variable made empty, without a word.
 */
export function readObjects(built: readonly KubeObject[]): KubeObject[] {
  return built.flatMap(given => {
    requireIdentity(given)
    const root = jsonNumbers(given.root) as MapNode
    const object = root === given.root ? given : { ...given, root }
    const items = at(object.root, ['items'])
    if (items?.type !== 'list') return isKustomizeConfig(object) ? [] : [object]
    return items.items.map((item, index) => {
      if (item.type !== 'map') fail('items: an item is not an object', object)
      const inner = { ...notesOf(object, index), root: item, trail: object.trail, listing: listingOf(object.root) }
      requireIdentity(inner)
      return inner
    })
  })
}

/** What is known of the list about one of its items. */
function notesOf(
  { made = [], unseen, unmatched }: KubeObject,
  index: number,
): Pick<KubeObject, 'made' | 'unseen' | 'unmatched'> {
  const own = made.flatMap(({ path, how }) =>
    path[0] === 'items' && path[1] === index ? [{ path: path.slice(2), how }] : [],
  )
  return {
    ...(own.length > 0 ? { made: own } : {}),
    ...(unseen && index === 0 ? { unseen } : {}),
    ...(unmatched && index === 0 ? { unmatched } : {}),
  }
}

const INT64 = 2n ** 63n

function jsonNumbers(node: Node): Node {
  if (node.type === 'scalar') {
    const isInt64 = typeof node.value !== 'bigint' || (node.value >= -INT64 && node.value < INT64)
    return isInt64 ? node : { type: 'scalar', value: Number(node.value), origin: node.origin }
  }
  if (node.type === 'list') {
    let items: Node[] | undefined
    for (let index = 0; index < node.items.length; index++) {
      const item = node.items[index]!
      const value = jsonNumbers(item)
      if (value === item) continue
      items ??= [...node.items]
      items[index] = value
    }
    return items ? { ...node, items } : node
  }
  let fields: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const value = jsonNumbers(field.value)
    if (value === field.value) continue
    fields ??= new Map(node.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...node, fields } : node
}

function isKustomizeConfig({ root }: KubeObject): boolean {
  const kind = stringAt(root, ['kind']) ?? ''
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  return kind.toLowerCase() === 'kustomization' && apiVersion.startsWith('kustomize.config.k8s.io/')
}

function requireIdentity(object: KubeObject): void {
  const { apiVersion, kind, name } = idOf(object)
  if (!apiVersion || !kind || !name) fail('an object lacks apiVersion, kind or metadata.name', object, false)
}

function fail(message: string, object: KubeObject, refused = true): never {
  throw new BailiwickError('invalid-object', message, {
    origin: object.root.origin,
    refused,
    fix: 'Set apiVersion, kind and metadata.name.',
  })
}

const PARTS = ['labels', 'annotations']

/**
 * Objects with `spec.commonMetadata` in them, which wins over what they say themselves. Labels or annotations that are not
 * all texts or null give way to it as a whole; null is the empty text (fluxcd/pkg ssa, SetCommonMetadata, and where Flux
 * sets its own labels). Throws `flux-invalid`.
 */
export function overrideMetadata(objects: readonly KubeObject[], kustomization: MapNode): readonly KubeObject[] {
  const common = PARTS.map(part => [part, readPairs(kustomization, part)] as const)
  return objects.map(object => {
    const root = common.reduce((before, [part, pairs]) => withPairs(before, part, pairs), object.root)
    return root === object.root ? object : { ...object, root }
  })
}

function readPairs(kustomization: MapNode, part: string): ReadonlyMap<string, Field> {
  const path = ['spec', 'commonMetadata', part]
  const parent = at(kustomization, path.slice(0, 2))
  if (parent === undefined) return new Map()
  if (parent.type !== 'map') return wrongType(kustomization, path.slice(0, 2), 'an object')
  const map = at(parent, [part])
  if (map === undefined) return new Map()
  if (map.type !== 'map') return wrongType(kustomization, path, 'an object')
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) {
    const { value, origin }: TextNode = specText(kustomization, [...path, key])!
    const opaque = field.value.type === 'scalar' && field.value.opaque ? { opaque: field.value.opaque } : {}
    fields.set(key, { ...field, value: { ...textNode(value, origin), ...opaque } })
  }
  return fields
}

function withPairs(root: MapNode, part: string, pairs: ReadonlyMap<string, Field>): MapNode {
  const metadata = at(root, ['metadata'])
  if (metadata?.type !== 'map') return root
  const own = at(metadata, [part])
  const isKept = own?.type === 'map' && [...own.fields.values()].every(({ value }) => isText(value))
  const hasNull = isKept && [...own.fields.values()].some(({ value }) => isAbsent(value))
  if (pairs.size === 0 && !hasNull) return root
  const kept = isKept ? [...own.fields].map(([key, field]): [string, Field] => [key, withoutNull(field)]) : []
  const fields = new Map([...kept, ...pairs])
  const origin = isAbsent(own) ? [...pairs.values()][0]!.value.origin : own.origin
  return withField(root, 'metadata', withField(metadata, part, { type: 'map', fields, origin }))
}

const isText = (node: Field['value']): boolean =>
  isAbsent(node) || (node.type === 'scalar' && typeof node.value === 'string')

const withoutNull = (field: Field): Field =>
  isAbsent(field.value) ? { ...field, value: textNode('', field.value.origin) } : field

/** Where pods stand in the kinds whose ports Flux completes. */
const POD_SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['v1 Pod', ['spec']],
  ['apps/v1 Deployment', ['spec', 'template', 'spec']],
  ['apps/v1 StatefulSet', ['spec', 'template', 'spec']],
  ['apps/v1 DaemonSet', ['spec', 'template', 'spec']],
  ['apps/v1 ReplicaSet', ['spec', 'template', 'spec']],
  ['batch/v1 Job', ['spec', 'template', 'spec']],
  ['batch/v1 CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
])

const OWNERS = ['metadata', 'ownerReferences']
const NAMESPACE = ['metadata', 'namespace']

/**
 * What Flux changes in objects before it applies them (fluxcd/pkg ssa/normalize): kinds that Go has a type for go
 * through that type, which drops fields that it does not have; no status, no creationTimestamp; `protocol: TCP` where a
 * port has none; `stringData` of a Secret moved into `data`. Roles are left alone, and so is what does not fit its type.
 * Throws `flux-invalid` for kinds that Flux cannot apply.
 */
export function normalise(objects: readonly KubeObject[]): KubeObject[] {
  return objects.map(object => {
    const root = normaliseRoot(object.root)
    if (root === object.root) return object
    const sops = object.root.fields.get('sops')?.value
    const owners = at(object.root, OWNERS)
    const namespace = at(object.root, NAMESPACE)
    return {
      ...object,
      root,
      ...(sops && !root.fields.has('sops') ? { sops } : {}),
      ...(owners && !at(root, OWNERS) ? { owners } : {}),
      ...(namespace && isAbsent(namespace) && !at(root, NAMESPACE) ? { nullNamespace: namespace } : {}),
    }
  })
}

function normaliseRoot(object: MapNode): MapNode {
  const apiVersion = stringAt(object, ['apiVersion']) ?? ''
  const kind = stringAt(object, ['kind']) ?? ''
  if (apiVersion === 'rbac.authorization.k8s.io/v1' && (kind === 'Role' || kind === 'ClusterRole')) return object
  let root = typed(object, apiVersion, kind) ?? object
  const metadata = at(root, ['metadata'])
  if (metadata?.type === 'map') root = withField(root, 'metadata', withoutField(metadata, 'creationTimestamp'))
  const isCrd = kind.toLowerCase() === 'customresourcedefinition' && apiVersion.startsWith('apiextensions.k8s.io/')
  return isCrd ? root : withoutField(root, 'status')
}

/** The object as its Go type writes it; undefined where it has none or does not fit. */
function typed(object: MapNode, apiVersion: string, kind: string): MapNode | undefined {
  const type = goTypeOf(apiVersion, kind)
  if (type === 'no-object') {
    throw new BailiwickError(
      'flux-invalid',
      message`${part('value', `${apiVersion} ${kind}`)}: Flux cannot apply this kind`,
      {
        origin: object.origin,
        fix: 'Remove the object.',
      },
    )
  }
  const root = type && goRoundTrip(object, type)
  if (root?.type !== 'map') return undefined
  const pods = POD_SPECS.get(`${apiVersion} ${kind}`)
  if (pods) return completeContainers(root, pods)
  if (apiVersion === 'v1' && kind === 'Service') return completePorts(root, ['spec', 'ports'])
  return apiVersion === 'v1' && kind === 'Secret' ? moveStringData(root) : root
}

function completeContainers(root: MapNode, path: readonly string[]): MapNode {
  const containers = at(root, [...path, 'containers'])
  if (containers?.type !== 'list') return root
  const items = containers.items.map(item => (item.type === 'map' ? completePorts(item, ['ports']) : item))
  if (items.every((item, index) => item === containers.items[index])) return root
  return withValueAt(root, [...path, 'containers'], { ...containers, items })
}

function completePorts(root: MapNode, path: readonly string[]): MapNode {
  const ports = at(root, path)
  if (ports?.type !== 'list') return root
  const items = ports.items.map(port => {
    if (port.type !== 'map' || stringAt(port, ['protocol'])) return port
    return withField(port, 'protocol', textNode('TCP', port.origin))
  })
  if (items.every((item, index) => item === ports.items[index])) return root
  return withValueAt(root, path, { ...ports, items })
}

function moveStringData(root: MapNode): MapNode {
  const plain = at(root, ['stringData'])
  if (plain?.type !== 'map') return root
  const data = at(root, ['data'])
  const fields = new Map<string, Field>(data?.type === 'map' ? data.fields : [])
  for (const [key, { key: origin, value }] of plain.fields) {
    const encoded = Buffer.from(stringAt(value, []) ?? '').toString('base64')
    const opaque = value.type === 'scalar' && value.opaque ? { opaque: value.opaque } : {}
    const moved = { ...textNode(encoded, value.origin), movedFrom: 'stringData', ...opaque }
    fields.set(key, { key: origin, value: moved })
  }
  const origin = isAbsent(data) ? plain.origin : data.origin
  return withField(withoutField(root, 'stringData'), 'data', { type: 'map', fields, origin })
}
