import { at, type MapNode, type Node, toJson } from '../../kube/node.ts'
import { isTrue } from '../core/is-filled.ts'
import { mapIn } from '../core/read-field.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { schemaOf } from './custom-schema.ts'
import { defaultProblems } from './default-problems.ts'

type Add = (problem: Problem) => void
type Steps = (string | number)[]

/** What the API server refuses in the defaults of a CustomResourceDefinition's schemas. */
export function definitionProblems(root: MapNode, add: Add): void {
  const versions = at(root, ['spec', 'versions'])
  if (versions?.type !== 'list') return
  for (const [index, version] of versions.items.entries()) {
    const node = at(version, ['schema', 'openAPIV3Schema'])
    if (node?.type === 'map') walk(node, ['spec', 'versions', index, 'schema', 'openAPIV3Schema'], true, add)
  }
}

/** Fields of every object, where the API server compares defaults with their types alone. */
const OBJECT_FIELDS = ['metadata', 'apiVersion', 'kind']

/** As the API server, not below `additionalProperties`. `path` serves all schemas below, because most have no default. */
function walk(node: MapNode, path: Steps, isRoot: boolean, add: Add): void {
  const value = node.fields.get('default')?.value
  if (value && !isAbsent(value)) checkDefault(node, value, [...path, 'default'], isRoot, add)
  const properties = mapIn(node, 'properties')
  const isObject = properties !== undefined && (isRoot || isTrue(node, 'x-kubernetes-embedded-resource'))
  for (const [name, { value: inner }] of properties?.fields ?? []) {
    if (inner.type !== 'map' || (isObject && OBJECT_FIELDS.includes(name))) continue
    path.push('properties', name)
    walk(inner, path, false, add)
    path.length -= 2
  }
  const items = mapIn(node, 'items')
  if (!items) return
  path.push('items')
  walk(items, path, false, add)
  path.pop()
}

function checkDefault(node: MapNode, value: Node, path: Steps, isRoot: boolean, add: Add): void {
  const schema = schemaOf(toJson(node))
  for (const one of defaultProblems(value, isRoot ? { ...schema, isEmbedded: true } : schema, path)) add(one)
}

/** Null is no default, and of a value that only the cluster has nothing is known. */
const isAbsent = (value: Node): boolean => value.type === 'scalar' && (value.value === null || isUnknown(value))
