import type { MapNode, Node, Path, ScalarNode } from '../../kube/node.ts'
import { keyOf } from '../key-of.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { writtenAs } from '../written-as.ts'
import { type CustomSchema, schemaOf } from './custom-schema.ts'
import { valueProblems } from './value-problems.ts'

/** Fields that every object has, whatever its schema says. */
const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata']

/** Who hears what is found. */
interface Heard {
  problem(problem: Problem): void
  /** Whether a value is allowed cannot be said. */
  unsure(): void
}

/**
 * Compares a value, with its defaults, with a structural schema. `isStructural`: unknown fields and keys of lists count;
 * inside `allOf`, `anyOf`, `oneOf` and `not` they do not.
 */
export function walkCustom(node: Node, schema: CustomSchema, path: Path, heard: Heard, isStructural: boolean): void {
  if (isUnknown(node)) {
    heard.unsure()
    return
  }
  if (isNull(node) && (schema.isNullable || (schema.type === '' && !schema.isIntOrString))) return
  const wrong = typeProblem(node, schema, path)
  if (wrong) {
    heard.problem(wrong)
    return
  }
  for (const one of valueProblems(node, schema, path)) one === 'unsure' ? heard.unsure() : heard.problem(one)
  if (node.type === 'map') walkMap(node, schema, path, heard, isStructural)
  else if (node.type === 'list') {
    if (isStructural) for (const problem of duplicates(node.items, schema, path)) heard.problem(problem)
    if (schema.items !== undefined)
      for (const [index, item] of node.items.entries())
        walkCustom(item, schemaOf(schema.items), [...path, index], heard, isStructural)
  }
  walkLogic(node, schema, path, heard)
}

const isNull = (node: Node): node is ScalarNode => node.type === 'scalar' && node.value === null

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string, in quotes',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
}

function typeProblem(node: Node, schema: CustomSchema, path: Path): Problem | undefined {
  const wrong = (allowed: string): Problem => ({ kind: 'wrong-type', path, allowed, found: writtenAs(node) })
  if (schema.isIntOrString) return isWhole(node) || isText(node) ? undefined : wrong('a whole number, or a string')
  const allowed = TYPES[schema.type]
  if (allowed === undefined || isOfType(node, schema.type)) return undefined
  return wrong(allowed)
}

function isOfType(node: Node, type: string): boolean {
  if (type === 'object') return node.type === 'map'
  if (type === 'array') return node.type === 'list'
  if (node.type !== 'scalar') return false
  if (type === 'integer') return isWhole(node)
  if (type === 'number') return typeof node.value === 'number' || typeof node.value === 'bigint'
  return typeof node.value === type
}

const isText = (node: Node): boolean => node.type === 'scalar' && typeof node.value === 'string'
const isWhole = (node: Node): boolean =>
  node.type === 'scalar' && (typeof node.value === 'bigint' || Number.isInteger(node.value))

function walkMap(node: MapNode, schema: CustomSchema, path: Path, heard: Heard, isStructural: boolean): void {
  const isObject = isStructural && (path.length === 0 || schema.isEmbedded)
  for (const [key, { value }] of node.fields) {
    const here = [...path, key]
    const json = schema.properties.get(key) ?? schema.additional
    // what controllers write is not asked of what is applied
    if (path.length === 0 && key === 'status') continue
    // metadata has the same fields in every object
    if (json !== undefined)
      walkCustom(value, schemaOf(json), here, heard, isStructural && !(isObject && key === 'metadata'))
    else if (isStructural && !isObject && !schema.isOpen) unknownField(schema, here, heard)
    else if (isObject && !OBJECT_FIELDS.includes(key) && !schema.isOpen) unknownField(schema, here, heard)
  }
  const required = isObject && path.length > 0 ? [...schema.required, 'apiVersion', 'kind'] : schema.required
  for (const key of required) {
    if (node.fields.has(key) || (path.length === 0 && key === 'status')) continue
    heard.problem({ kind: 'missing-field', path: [...path, key], allowed: 'a value', found: 'nothing' })
  }
}

function unknownField(schema: CustomSchema, path: Path, heard: Heard): void {
  const names = [...schema.properties.keys()]
  heard.problem({ kind: 'unknown-field', path, allowed: names.join(', '), found: 'an unknown field', names })
}

/** They stand in the value already. */
const NO_DEFAULTS = {}

function* duplicates(items: readonly Node[], { keys }: CustomSchema, path: Path): Generator<Problem> {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const key = keyOf(item, keys, NO_DEFAULTS)
    if (key !== undefined && seen.has(key)) {
      const allowed = keys === '=' ? 'each value once' : `each ${keys.join(' and ')} once`
      yield { kind: 'duplicate', path: [...path, index], allowed, found: 'a duplicate' }
    }
    if (key !== undefined) seen.add(key)
  }
}

function walkLogic(node: Node, schema: CustomSchema, path: Path, heard: Heard): void {
  for (const json of schema.all) walkCustom(node, schemaOf(json), path, heard, false)
  const none = (allowed: string) => heard.problem({ kind: 'no-match', path, allowed, found: 'another value' })
  if (schema.any.length > 0) {
    const fits = schema.any.map(json => fitsIn(node, schemaOf(json), path))
    if (!fits.includes(true)) fits.includes(undefined) ? heard.unsure() : none(alternatives(schema.any))
  }
  if (schema.one.length > 0) {
    const fits = schema.one.map(json => fitsIn(node, schemaOf(json), path))
    if (fits.includes(undefined)) heard.unsure()
    else if (fits.filter(Boolean).length !== 1) none(`exactly one of: ${alternatives(schema.one)}`)
  }
  if (schema.not !== undefined) {
    const fits = fitsIn(node, schemaOf(schema.not), path)
    if (fits === undefined) heard.unsure()
    else if (fits) none('another value')
  }
}

/** Whether a value is valid; undefined where that cannot be said. */
function fitsIn(node: Node, schema: CustomSchema, path: Path): boolean | undefined {
  let [fits, isSure] = [true, true]
  const heard: Heard = {
    problem: () => (fits = false),
    unsure: () => (isSure = false),
  }
  walkCustom(node, schema, path, heard, false)
  if (!fits) return false
  return isSure ? true : undefined
}

/** Most alternatives say which field must be there. */
function alternatives(list: CustomSchema['any']): string {
  const required = list.map(json => schemaOf(json).required.join(' and ')).filter(Boolean)
  return required.length === list.length ? required.join(', or ') : 'what one of the alternatives of its schema allows'
}
