import { at, isTrue, type MapNode, type Node, type Path, stringAt } from '../kube/node.ts'
import { type ImmutableField, immutableFields } from './immutable-fields.ts'
import { isUnknown } from './model/is-unknown.ts'
import type { Problem } from './model/problem.ts'
import { compareQuantities, sameQuantity } from './model/quantity.ts'
import { POD_DEFAULTS } from './pod-defaults.ts'

/** Fields of `after` for which the API server refuses it as an update of `before`. `kind`: `<group>/<Kind>`. */
export function immutableChanges(kind: string, before: MapNode, after: MapNode): readonly Problem[] {
  const problems = immutableFields(kind, before, after).flatMap(field => {
    const path = changedIn(at(before, field.path), at(after, field.path), field)
    return path === undefined ? [] : [changeOf([...field.path, ...path], field.words)]
  })
  const isStored = kind === 'apiextensions.k8s.io/CustomResourceDefinition' && losesStored(before, after)
  return isStored ? [...problems, changeOf(['spec', 'versions'])] : problems
}

const changeOf = (path: Path, words?: string): Problem => ({
  kind: 'immutable',
  path,
  allowed: 'the value that it has on the cluster',
  found: 'another value',
  ...(words ? { words } : {}),
})

/** Whether a definition loses the version in which the cluster stores its objects (`status.storedVersions` lists it). */
function losesStored(before: MapNode, after: MapNode): boolean {
  const [was, is] = [before, after].map(root => at(root, ['spec', 'versions']))
  if (was?.type !== 'list' || is?.type !== 'list') return false
  const isStored = (node: Node) => {
    return isTrue(at(node, ['storage']))
  }
  const names = is.items.map(node => stringAt(node, ['name']))
  return was.items.some(node => isStored(node) && !names.includes(stringAt(node, ['name'])))
}

/** Where two values differ first, below the field; undefined where they do not, or where that is not known. */
function changedIn(before: Node | undefined, after: Node | undefined, field: ImmutableField): Path | undefined {
  if (field.isAllocated && (isAbsent(before) || isAbsent(after))) {
    // an address stands on the cluster where none is written
    return field.path.at(-1) === 'clusterIP' && after && isText(after, 'None') ? [] : undefined
  }
  if (field.canBeSet && isAbsent(before)) return undefined
  if (field.grows) {
    const [was, is] = [scalarText(before), scalarText(after)]
    return was !== undefined && is !== undefined && (compareQuantities(was, is) ?? 0) > 0 ? [] : undefined
  }
  if (field.default !== undefined) {
    const [was, is] = [before, after].map(node => (isAbsent(node) ? field.default : scalarText(node)))
    return was === undefined || is === undefined || was === is ? undefined : []
  }
  return difference(before, after, field, '')
}

/** Keys that kustomize and people write beside others of the same meaning. */
const NOT_COMPARED = new Set(['status', 'creationTimestamp'])

function difference(
  before: Node | undefined,
  after: Node | undefined,
  field: ImmutableField,
  key: string,
): Path | undefined {
  const isPod = field.isPod === true
  if ((before && isUnknown(before)) || (after && isUnknown(after))) return undefined
  if (isAbsent(before) || isAbsent(after)) {
    const there = isAbsent(before) ? after : before
    return isAbsent(there) || (isPod && isDefault(there!, key)) ? undefined : []
  }
  if (before!.type === 'map' && after!.type === 'map') return mapDifference(before as MapNode, after as MapNode, field)
  if (before!.type === 'list' && after!.type === 'list') {
    const [was, is] = [before, after] as [typeof before & { type: 'list' }, typeof after & { type: 'list' }]
    for (let index = 0; index < Math.max(was.items.length, is.items.length); index++) {
      const found = difference(was.items[index], is.items[index], field, key)
      if (found) return [index, ...found]
    }
    return undefined
  }
  const [was, is] = [scalarText(before), scalarText(after)]
  if (was === undefined || is === undefined) return before!.type === after!.type ? undefined : []
  return was === is || (isPod && sameQuantity(was, is)) ? undefined : []
}

function mapDifference(before: MapNode, after: MapNode, field: ImmutableField): Path | undefined {
  for (const key of new Set([...before.fields.keys(), ...after.fields.keys()])) {
    if ((field.isPod && NOT_COMPARED.has(key)) || field.except?.includes(key)) continue
    const found = difference(before.fields.get(key)?.value, after.fields.get(key)?.value, field, key)
    if (found) return [key, ...found]
  }
  return undefined
}

const isAbsent = (node: Node | undefined): boolean => {
  if (node === undefined) return true
  if (node.type === 'list') return node.items.length === 0
  if (node.type === 'map') return node.fields.size === 0
  return node.value === null
}

const isText = (node: Node, text: string): boolean => node.type === 'scalar' && node.value === text

const scalarText = (node: Node | undefined): string | undefined =>
  node?.type === 'scalar' && !isUnknown(node) ? String(node.value) : undefined

/** Whether a value may be what the API server writes, or reads as nothing, where none stands. */
function isDefault(node: Node, key: string): boolean {
  if (node.type === 'list') return false
  if (node.type === 'map') return [...node.fields].every(([name, { value }]) => isDefault(value, name))
  if (node.value === '' || node.value === false || node.value === 0) return true
  return POD_DEFAULTS.get(key)?.includes(String(node.value)) ?? false
}
