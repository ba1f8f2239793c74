import { BailiwickError } from '../errors.ts'
import { listingOf } from '../kube/listing.ts'
import { at, type Field, type MapNode, type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'

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
