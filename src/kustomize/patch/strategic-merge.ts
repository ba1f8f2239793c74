import { BailiwickError } from '../../errors.ts'
import { isAbsent, writtenText } from '../../kube/edit-node.ts'
import { type Field, type ListNode, type MapNode, type Node, type ScalarNode, stringAt } from '../../kube/node.ts'
import { mergeList } from './merge-list.ts'
import { mergeTypeOf } from './merge-schema.ts'
import { MERGE_TYPES, type MergeField, type MergeType } from './merge-types.ts'
import { takeListDirective, takeMapDirective } from './patch-directive.ts'

/** What a schema says about a place: undefined where there is no schema at all. */
export type Schema = (MergeField & { readonly known: true }) | undefined

/**
 * `object` under a strategic merge patch, as kyaml's merge2 does it (with lists growing at the front); undefined where
 * the patch deletes the object. Throws `kustomize-invalid` where a map meets a list or a text.
 */
export function strategicMerge(object: MapNode, patch: MapNode): MapNode | undefined {
  // kustomize computes what a replaced object would be and then forgets it
  if (writtenText(patch.fields.get('$patch')?.value) === 'replace') return object
  const merged = merge(object, patch, undefined)
  return merged?.type === 'map' ? merged : undefined
}

/** Merges one value; both sides may be missing. */
export function merge(dest: Node | undefined, patch: Node | undefined, schema: Schema): Node | undefined {
  const type = isAbsent(dest) ? (isAbsent(patch) ? 'map' : patch.type) : dest.type
  for (const node of [dest, patch]) {
    if (isAbsent(node) || node.type === type) continue
    const message = `a patch puts a ${patch?.type} where the object has a ${dest?.type}`
    throw new BailiwickError('kustomize-invalid', message, { origin: (patch ?? node).origin })
  }
  if (type === 'scalar') return mergeScalar(dest as ScalarNode | undefined, patch as ScalarNode | undefined)
  const known = schema ?? schemaOf(dest) ?? schemaOf(patch)
  if (type === 'map') return mergeMap(dest, patch, known)
  const destList = dest as ListNode | undefined
  const patchList = patch as ListNode | undefined
  return known?.keys ? mergeAssociative(destList, patchList, known) : (patchList ?? destList)
}

/**
 * The value of the patch, written as the object's own value was: what stood in quotes (or in a text block) stays a text
 * even where the patch has a number or a boolean.
 */
function mergeScalar(dest: ScalarNode | undefined, patch: ScalarNode | undefined): ScalarNode | undefined {
  if (!dest || !patch || isAbsent(patch)) return patch ?? dest
  const { style, quoted, ...plain } = patch
  if (dest.style) return { type: 'scalar', value: writtenText(patch), origin: patch.origin, style: dest.style }
  if (dest.quoted) return { type: 'scalar', value: writtenText(patch), origin: patch.origin, quoted: true }
  return plain
}

/** A value inside another kind's object may be an object itself; kyaml then takes the schema of that. */
function schemaOf(node: Node | undefined): Schema {
  const apiVersion = stringAt(node, ['apiVersion'])
  const kind = stringAt(node, ['kind'])
  const type = apiVersion && kind ? mergeTypeOf(apiVersion, kind) : undefined
  return type && { known: true, type: nameOf(type) }
}

const NAMES = new Map([...MERGE_TYPES].map(([name, type]) => [type, name]))
const nameOf = (type: MergeType): string => NAMES.get(type)!

function mergeMap(dest: Node | undefined, patch: Node | undefined, schema: Schema): Node | undefined {
  if (isAbsent(dest)) return addMap(dest, patch, schema)
  if (dest.type !== 'map') return dest
  if (patch !== undefined && isAbsent(patch)) return undefined
  if (patch?.type !== 'map') return mergeFields(dest, undefined, schema)
  const { directive, rest } = takeMapDirective(patch)
  if (directive === 'delete') return undefined
  // merge2 goes on merging the fields of the patch into what it has just put there, which changes nothing but nulls
  if (directive === 'replace') return mergeFields(rest, rest, schema)
  // a part that only the patch has is merged with itself; then the directive leaves both
  return mergeFields(dest === patch ? rest : dest, rest, schema)
}

function addMap(dest: Node | undefined, patch: Node | undefined, schema: Schema): Node | undefined {
  if (patch === undefined) return dest?.type === 'scalar' && dest.text !== '' ? dest : undefined
  if (isAbsent(patch)) return undefined
  if (patch.type !== 'map') return patch
  const { directive, rest } = takeMapDirective(patch)
  return directive === 'delete' ? undefined : mergeFields(rest, rest, schema)
}

function mergeFields(dest: MapNode, patch: MapNode | undefined, schema: Schema): MapNode {
  const fields = new Map(dest.fields)
  const mergeKey = (key: string, before: Field | undefined): void => {
    const change = patch?.fields.get(key)
    // most of an object: a value that the patch does not speak of
    if (before && !change && before.value.type === 'scalar' && before.value.value !== null) return
    const value = merge(before?.value, change?.value, fieldSchema(schema, key))
    if (value === undefined || (isAbsent(value) && value !== before?.value)) {
      fields.delete(key)
      return
    }
    const field = value === before?.value ? before : change && value === change.value ? change : (before ?? change)!
    if (field !== before || value !== field.value) fields.set(key, { key: field.key, value })
  }
  for (const [key, before] of dest.fields) mergeKey(key, before)
  for (const key of patch?.fields.keys() ?? []) if (!dest.fields.has(key)) mergeKey(key, undefined)
  return { ...dest, fields }
}

function fieldSchema(schema: Schema, key: string): Schema {
  if (!schema) return undefined
  const field = schema.type ? MERGE_TYPES.get(schema.type)?.fields.get(key) : undefined
  return { ...field, known: true }
}

/** Without a list to act on, a directive for a list stays in the object that kustomize writes. */
function refuseLoneDirective(patch: ListNode): void {
  const lone = patch.items.find(item => item.type === 'map' && item.fields.size === 1 && item.fields.has('$patch'))
  if (!lone) return
  const message = 'a $patch directive for a list that the object does not have'
  throw new BailiwickError('kustomize-unsupported', message, { origin: lone.origin, fix: 'Remove the directive.' })
}

function mergeAssociative(
  dest: ListNode | undefined,
  patch: ListNode | undefined,
  schema: NonNullable<Schema>,
): ListNode | undefined {
  if (isAbsent(dest as Node | undefined)) {
    if (patch === undefined || isAbsent(patch as Node)) return undefined
    refuseLoneDirective(patch)
    return mergeAssociative(patch, patch, schema)
  }
  if (patch !== undefined && isAbsent(patch as Node)) return undefined
  if (!patch) return mergeList(dest!, undefined, schema, merge)
  const { directive, rest } = takeListDirective(patch)
  if (directive === 'delete') return undefined
  return mergeList(directive === 'replace' || dest === patch ? rest : dest!, rest, schema, merge)
}
