import { at, type MapNode, type Node, toJson } from '../../kube/node.ts'
import { fitsDefault } from '../core/fits-default.ts'
import { isTrue } from '../core/is-filled.ts'
import { mapIn, textIn } from '../core/read-field.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { type CustomSchema, schemaOf } from './custom-schema.ts'
import { OBJECT_FIELDS } from './custom-walk.ts'
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

const ROOT: Around = { isRoot: true, hasDefaults: true, isCorrelated: true, schema: undefined }

/** What a schema inherits from those around it. */
interface Around {
  readonly isRoot: boolean
  /** The API server does not look for defaults below `additionalProperties`. */
  readonly hasDefaults: boolean
  /** Items of a list have a value before an update only where they have keys. */
  readonly isCorrelated: boolean
  /** What it says, where one around it was read already: each is read once. */
  readonly schema: CustomSchema | undefined
}

/** `path` serves all schemas below, because most have neither defaults nor rules. */
function walk(node: MapNode, path: Steps, around: Around, add: Add): void {
  const { isRoot, hasDefaults } = around
  let { schema } = around
  const value = hasDefaults ? node.fields.get('default')?.value : undefined
  if (value && !isAbsent(value) && (isRoot || !fitsDefault(value, node))) {
    schema ??= schemaOf(toJson(node))
    for (const one of defaultProblems(value, isRoot ? embedded(schema) : schema, [...path, 'default'])) add(one)
  }
  if (node.fields.has('x-kubernetes-validations')) {
    schema ??= schemaOf(toJson(node))
    ruleProblems(node, schema, { ...around, path: [...path] }, add)
  }
  const properties = mapIn(node, 'properties')
  const isObject = properties !== undefined && (isRoot || isTrue(node, 'x-kubernetes-embedded-resource'))
  const inner = isRoot ? { ...around, isRoot: false } : around
  for (const [name, { value: field }] of properties?.fields ?? []) {
    // there the API server compares defaults with their types alone
    if (field.type !== 'map' || (isObject && OBJECT_FIELDS.has(name))) continue
    path.push('properties', name)
    walk(field, path, schema ? { ...inner, schema: schema.properties.get(name) } : inner, add)
    path.length -= 2
  }
  const [items, extra] = [mapIn(node, 'items'), mapIn(node, 'additionalProperties')]
  if (items) {
    const isCorrelated = inner.isCorrelated && textIn(node, 'x-kubernetes-list-type') === 'map'
    path.push('items')
    walk(items, path, { ...inner, isCorrelated, schema: schema?.items }, add)
    path.pop()
  }
  if (extra) {
    path.push('additionalProperties')
    walk(extra, path, { ...inner, hasDefaults: false, schema: schema?.additional }, add)
    path.pop()
  }
}

const embedded = ({ json }: CustomSchema) => schemaOf({ ...json, 'x-kubernetes-embedded-resource': true })

/** Null is no default, and of a value that only the cluster has nothing is known. */
const isAbsent = (value: Node): boolean => value.type === 'scalar' && (value.value === null || isUnknown(value))
