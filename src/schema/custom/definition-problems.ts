import { at, type MapNode, type Node, toJson } from '../../kube/node.ts'
import { fitsDefault } from '../core/fits-default.ts'
import { isTrue } from '../core/is-filled.ts'
import { mapIn, textIn } from '../core/read-field.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { schemaOf } from './custom-schema.ts'
import { defaultProblems } from './default-problems.ts'
import { ruleProblems } from './rule-problems.ts'

type Add = (problem: Problem) => void
type Steps = (string | number)[]

/** What the API server refuses in the defaults and rules of a CustomResourceDefinition's schemas. */
export function definitionProblems(root: MapNode, add: Add): void {
  const versions = at(root, ['spec', 'versions'])
  if (versions?.type !== 'list') return
  for (const [index, version] of versions.items.entries()) {
    const node = at(version, ['schema', 'openAPIV3Schema'])
    if (node?.type === 'map') walk(node, ['spec', 'versions', index, 'schema', 'openAPIV3Schema'], ROOT, add)
  }
}

const ROOT: Around = { isRoot: true, hasDefaults: true, isCorrelated: true }

/** Fields of every object, where the API server compares defaults with their types alone. */
const OBJECT_FIELDS = ['metadata', 'apiVersion', 'kind']

/** What a schema inherits from those around it. */
interface Around {
  readonly isRoot: boolean
  /** The API server does not look for defaults below `additionalProperties`. */
  readonly hasDefaults: boolean
  /** Items of a list have a value before an update only where they have keys. */
  readonly isCorrelated: boolean
}

/** `path` serves all schemas below, because most have neither defaults nor rules. */
function walk(node: MapNode, path: Steps, around: Around, add: Add): void {
  const { isRoot, hasDefaults } = around
  const value = hasDefaults ? node.fields.get('default')?.value : undefined
  if (value && !isAbsent(value) && (isRoot || !fitsDefault(value, node)))
    checkDefault(node, value, [...path, 'default'], isRoot, add)
  if (node.fields.has('x-kubernetes-validations'))
    ruleProblems(node, schemaOf(toJson(node)), { ...around, path: [...path] }, add)
  const properties = mapIn(node, 'properties')
  const isObject = properties !== undefined && (isRoot || isTrue(node, 'x-kubernetes-embedded-resource'))
  const inner = isRoot ? { ...around, isRoot: false } : around
  for (const [name, { value: field }] of properties?.fields ?? []) {
    if (field.type !== 'map' || (isObject && OBJECT_FIELDS.includes(name))) continue
    path.push('properties', name)
    walk(field, path, inner, add)
    path.length -= 2
  }
  const isKeyed = textIn(node, 'x-kubernetes-list-type') === 'map'
  below(node, 'items', path, isKeyed ? inner : { ...inner, isCorrelated: false }, add)
  below(node, 'additionalProperties', path, { ...inner, hasDefaults: false }, add)
}

function below(node: MapNode, name: string, path: Steps, around: Around, add: Add): void {
  const schema = mapIn(node, name)
  if (!schema) return
  path.push(name)
  walk(schema, path, around, add)
  path.pop()
}

function checkDefault(node: MapNode, value: Node, path: Steps, isRoot: boolean, add: Add): void {
  const schema = schemaOf(toJson(node))
  for (const one of defaultProblems(value, isRoot ? { ...schema, isEmbedded: true } : schema, path)) add(one)
}

/** Null is no default, and of a value that only the cluster has nothing is known. */
const isAbsent = (value: Node): boolean => value.type === 'scalar' && (value.value === null || isUnknown(value))
