import type { MapNode, Node, Path, ScalarNode } from '../../kube/node.ts'
import { keyOf } from '../key-of.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'
import { writtenAs } from '../model/written-as.ts'
import { MAX_PROBLEMS } from '../type-walk.ts'
import type { CustomSchema } from './custom-schema.ts'
import { type ValueListener, valueProblems } from './value-problems.ts'

/** Fields that every object has, whatever its schema says. */
export const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Compares an object, with its defaults, with a structural schema. Unknown fields and keys of lists count; inside
 * `allOf`, `anyOf`, `oneOf` and `not` they do not.
 */
export class CustomWalk implements ValueListener {
  readonly problems: Problem[] = []
  count = 0
  /** Values of which it is not known whether they are allowed. */
  undecided = 0
  /** The path of the current value. One list serves all fields, because most have no problem; `problem` copies it. */
  readonly #path: (string | number)[]

  /** `start`: path of the first value in its object. */
  constructor(start: Path = []) {
    this.#path = [...start]
  }

  /** Adds a problem; its path is copied. */
  problem(problem: Problem): void {
    this.count += 1
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ ...problem, path: [...problem.path] })
  }

  unsure(): void {
    this.undecided += 1
  }

  value(node: Node, schema: CustomSchema, isStructural: boolean): void {
    if (isUnknown(node)) {
      this.unsure()
      return
    }
    if (isNull(node) && (schema.isNullable || (schema.type === '' && !schema.isIntOrString))) return
    const allowed = typeMissed(node, schema)
    if (allowed !== undefined) {
      this.problem({ kind: 'wrong-type', path: this.#path, allowed, found: writtenAs(node) })
      return
    }
    if (schema.isBounded) valueProblems(node, schema, this.#path, this)
    if (node.type === 'map') this.#map(node, schema, isStructural)
    else if (node.type === 'list') {
      if (isStructural && schema.keys.length > 0) this.#duplicates(node.items, schema)
      if (schema.items !== undefined)
        for (let index = 0; index < node.items.length; index++)
          this.#below(index, node.items[index]!, schema.items, isStructural)
    }
    this.#logic(node, schema)
  }

  #below(key: string | number, node: Node, schema: CustomSchema, isStructural: boolean): void {
    if (schema.isPlainText && isText(node) && !isUnknown(node)) return
    this.#path.push(key)
    this.value(node, schema, isStructural)
    this.#path.pop()
  }

  #map(node: MapNode, schema: CustomSchema, isStructural: boolean): void {
    const isRoot = this.#path.length === 0
    const isObject = isStructural && (isRoot || schema.isEmbedded)
    for (const [key, { value }] of node.fields) {
      // what controllers write is not asked of what is applied
      if (isRoot && key === 'status') continue
      const inner = schema.properties.get(key) ?? schema.additional
      // metadata has the same fields in every object
      if (inner !== undefined) this.#below(key, value, inner, isStructural && !(isObject && key === 'metadata'))
      else if (isStructural && !schema.isOpen && !(isObject && OBJECT_FIELDS.has(key))) this.#unknown(key, schema)
    }
    for (const key of schema.required) this.#required(key, node, isRoot)
    if (isObject && !isRoot) for (const key of NEEDED_IN_OBJECTS) this.#required(key, node, isRoot)
  }

  #required(key: string, node: MapNode, isRoot: boolean): void {
    if (node.fields.has(key) || (isRoot && key === 'status')) return
    this.problem({ kind: 'missing-field', path: [...this.#path, key], allowed: 'a value', found: 'nothing' })
  }

  #unknown(key: string, { properties }: CustomSchema): void {
    const names = [...properties.keys()]
    const path = [...this.#path, key]
    this.problem({ kind: 'unknown-field', path, allowed: names.join(', '), found: 'an unknown field', names })
  }

  #duplicates(items: readonly Node[], { keys }: CustomSchema): void {
    const seen = new Set<string>()
    for (const [index, item] of items.entries()) {
      const key = keyOf(item, keys, NO_DEFAULTS)
      if (key !== undefined && seen.has(key)) {
        const allowed = keys === '=' ? 'each value once' : `each ${keys.join(' and ')} once`
        this.problem({ kind: 'duplicate', path: [...this.#path, index], allowed, found: 'a duplicate' })
      }
      if (key !== undefined) seen.add(key)
    }
  }

  #logic(node: Node, schema: CustomSchema): void {
    for (const part of schema.all) this.value(node, part, false)
    if (schema.any.length > 0) {
      const fits = schema.any.map(part => this.#fits(node, part))
      if (!fits.includes(true)) fits.includes(undefined) ? this.unsure() : this.#noMatch(alternatives(schema.any))
    }
    if (schema.one.length > 0) {
      const fits = schema.one.map(part => this.#fits(node, part))
      if (fits.includes(undefined)) this.unsure()
      else if (fits.filter(Boolean).length !== 1) this.#noMatch(`exactly one of: ${alternatives(schema.one)}`)
    }
    if (schema.not === undefined) return
    const fits = this.#fits(node, schema.not)
    if (fits === undefined) this.unsure()
    else if (fits) this.#noMatch('another value')
  }

  #noMatch(allowed: string): void {
    this.problem({ kind: 'no-match', path: this.#path, allowed, found: 'another value' })
  }

  /** Whether a value is valid; undefined where that cannot be said. */
  #fits(node: Node, schema: CustomSchema): boolean | undefined {
    const walk = new CustomWalk(this.#path)
    walk.value(node, schema, false)
    if (walk.count > 0) return false
    return walk.undecided === 0 ? true : undefined
  }
}

/** What a schema with `x-kubernetes-int-or-string` allows. */
const INT_OR_TEXT = 'a whole number, or a string'

/** Fields that an object inside of another must have. */
export const NEEDED_IN_OBJECTS = ['apiVersion', 'kind']
/** They stand in the value already. */
const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

const isNull = (node: Node): node is ScalarNode => node.type === 'scalar' && node.value === null

/** The type that a schema demands, in words; undefined where the value is of it. */
export function typeMissed(node: Node, { type, isIntOrString }: CustomSchema): string | undefined {
  if (isIntOrString) return isWhole(node) || isText(node) ? undefined : INT_OR_TEXT
  switch (type) {
    case 'object':
      return node.type === 'map' ? undefined : 'a map'
    case 'array':
      return node.type === 'list' ? undefined : 'a list'
    case 'string':
      return isText(node) ? undefined : 'a string, in quotes'
    case 'boolean':
      return node.type === 'scalar' && typeof node.value === 'boolean' ? undefined : 'true or false'
    case 'integer':
      return isWhole(node) ? undefined : 'a whole number'
    case 'number':
      return isNumber(node) ? undefined : 'a number'
    default:
      return undefined
  }
}

const isText = (node: Node): boolean => node.type === 'scalar' && typeof node.value === 'string'
const isNumber = (node: Node): boolean =>
  node.type === 'scalar' && (typeof node.value === 'number' || typeof node.value === 'bigint')
/** A whole number of 64 bits: the API server reads a larger one as a number with a fraction. */
function isWhole(node: Node): boolean {
  if (node.type !== 'scalar') return false
  const { value } = node
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value
  return typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

/** Most alternatives say which field must be there. */
function alternatives(list: readonly CustomSchema[]): string {
  const required = list.map(schema => schema.required.join(' and ')).filter(Boolean)
  return required.length === list.length ? required.join(', or ') : 'what one of the alternatives of its schema allows'
}
