import { oncePerName } from '../base/once-per.ts'
import type { MapNode, Node, Path, ScalarNode, ScalarValue } from '../kube/node.ts'
import { isUnknown, type Problem, writtenAs } from './core/problem.ts'
import { type FieldPlan, isEmpty, type ObjectPlan, objectPlan } from './field-plan.ts'
import { isKnownIn, type KnownSince, type Scalar } from './types-table.ts'

/** More problems of one object do not help; the total is reported. */
export const MAX_PROBLEMS = 50

const NO_KEYS: readonly string[] = []
const isNull = (node: Node): node is ScalarNode => node.type === 'scalar' && node.value === null

const isAbsent = (node: Node | undefined): boolean => node === undefined || isNull(node)

/** One walk through an object; the tree of its types ends where JSON of any shape begins. */
export class TypeWalk {
  readonly problems: Problem[] = []
  count = 0
  readonly #version: number
  /** The path of the current value. One list serves all fields, because most have no problem; `add` copies it. */
  readonly #path: (string | number)[]
  readonly #hear = (problem: Problem) => this.add(problem)

  /** `start`: path of the object in the one that is applied. */
  constructor(version: number, start: Path = []) {
    this.#version = version
    this.#path = [...start]
  }

  /** Walks through an object of the type with this name in the table. */
  object(node: Node, type: string): void {
    if (!isNull(node) && !isUnknown(node)) this.#ofType(node, objectPlan(type, this.#version))
  }

  #ofType(node: Node, plan: ObjectPlan | undefined): void {
    if (plan === undefined) return
    if (node.type === 'map') this.#object(node, plan)
    else this.#wrong(node, this.#path, 'a map')
  }

  #value(node: Node, plan: FieldPlan, isItem: boolean): void {
    // null is as if the field were absent
    if (isNull(node) || isUnknown(node)) return
    if (plan.is === 'scalar') {
      if (!fitsScalar(node, plan.scalar)) this.add(scalarProblem(node, plan.scalar, this.#path))
      else if (plan.words !== undefined) this.add(wordProblem(node, plan.words, this.#path, isItem))
    } else if (plan.is === 'object') this.#ofType(node, plan.object())
    else if (plan.is === 'list') this.#list(node, plan)
    else if (node.type !== 'map') this.#wrong(node, this.#path, 'a map')
    else for (const [key, { value }] of node.fields) this.#below(key, value, plan.below!, false)
  }

  #below(key: string | number, node: Node, plan: FieldPlan, isItem: boolean): void {
    if (plan.plain !== undefined && node.type === 'scalar' && typeof node.value === plan.plain) return
    this.#path.push(key)
    this.#value(node, plan, isItem)
    plan.check?.(node, this.#path, this.#hear)
    this.#path.pop()
  }

  #object(node: MapNode, plan: ObjectPlan): void {
    const path = this.#path
    for (const [key, { value }] of node.fields) {
      const field = plan.fields.get(key)
      if (field === undefined) this.#unknown(plan.all, key, path)
      else this.#below(key, value, field, false)
    }
    for (const key of node.dropped?.keys() ?? NO_KEYS) {
      if (path.length > 0 || key !== 'sops') this.#unknown(plan.all, key, path, 'dropped-field')
    }
    // controllers write the status, so missing fields are allowed there
    if (path[0] === 'status') return
    for (const check of plan.checks) check(node, path, this.#hear)
    for (const key of plan.required) if (isAbsent(node.fields.get(key)?.value)) this.#missing(key)
    for (const key of plan.filled)
      if (isEmpty(node.fields.get(key)?.value) && !this.#isMissing(node, key, plan)) this.#missing(key)
  }

  /** Whether a field was already reported as missing. */
  #isMissing(node: MapNode, key: string, { required }: ObjectPlan): boolean {
    return required.includes(key) && isAbsent(node.fields.get(key)?.value)
  }

  #missing(key: string): void {
    this.add({ kind: 'missing-field', path: [...this.#path, key], allowed: 'a value', found: 'nothing' })
  }

  #unknown(
    fields: ReadonlyMap<string, KnownSince>,
    key: string,
    path: Path,
    kind: Problem['kind'] = 'unknown-field',
  ): void {
    const elsewhere = fields.get(key)
    const { names, text } = namesIn(fields, this.#version)
    const when = elsewhere && {
      ...(elsewhere.since > this.#version ? { since: `1.${elsewhere.since}` } : {}),
      ...(elsewhere.until < this.#version ? { until: `1.${elsewhere.until}` } : {}),
    }
    this.add({
      kind,
      path: [...path, key],
      allowed: text,
      found: 'an unknown field',
      names,
      ...when,
    })
  }

  #list(node: Node, plan: FieldPlan): void {
    const { keys } = plan
    if (node.type !== 'list') {
      this.#wrong(node, this.#path, 'a list')
      return
    }
    const seen = keys.length === 0 ? undefined : new Set<string>()
    let index = 0
    for (const item of node.items) {
      const key = seen && keyOf(item, keys)
      if (key !== undefined && seen?.has(key)) {
        const what = keys === '=' ? 'each value once' : `each ${keys.join(' and ')} once`
        this.add({ kind: 'duplicate', path: [...this.#path, index], allowed: what, found: 'a duplicate' })
      }
      if (key !== undefined) seen?.add(key)
      if (isNull(item)) this.#nothing(item, index, plan)
      else this.#below(index, item, plan.below!, true)
      index += 1
    }
  }

  /** Checks a null list item. A set or a keyed list allows none; elsewhere it counts as an empty object or an empty text. */
  #nothing(item: ScalarNode, index: number, { keys, words, below }: FieldPlan): void {
    const path = [...this.#path, index]
    if (keys.length > 0) this.#wrong(item, path, keys === '=' ? 'a value' : 'a map')
    else if (below!.is === 'object')
      this.#below(index, { type: 'map', fields: new Map(), origin: item.origin }, below!, true)
    else if (words) this.add(wordProblem({ ...item, value: '' }, words, path, true))
  }

  #wrong(node: Node, path: Path, allowed: string): void {
    this.add({ kind: 'wrong-type', path, allowed, found: writtenAs(node) })
  }

  /** Adds a problem if there is one. */
  add(problem: Problem | undefined): void {
    if (problem === undefined) return
    this.count += 1
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ ...problem, path: [...problem.path] })
  }
}

/** An empty text counts as absent, except as a list item. */
function wordProblem(
  node: Node,
  words: readonly string[] | undefined,
  path: Path,
  isItem: boolean,
): Problem | undefined {
  if (words === undefined || node.type !== 'scalar' || (node.value === '' && !isItem)) return undefined
  if (words.includes(String(node.value))) return undefined
  return { kind: 'not-allowed', path, allowed: words.join(', '), found: 'another word', names: words }
}

// powers of two are exact as numbers, and compare exactly with integers beyond 2^53
const INT32 = 2 ** 31
const INT64 = 2 ** 63

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/** Whether a value can be read as this scalar. */
export function fitsScalar(node: Node, scalar: Scalar): boolean {
  if (scalar === 'any') return true
  if (node.type !== 'scalar') return false
  const { value } = node
  switch (scalar) {
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return isNumber(value)
    case 'int32':
    case 'int64':
      return isInteger(value, scalar)
    case 'int-or-string':
      return typeof value === 'string' || isInteger(value, 'int32')
    case 'quantity':
      return isNumber(value) || (typeof value === 'string' && QUANTITY.test(value))
    case 'time':
      return typeof value === 'string' && RFC3339.test(value)
    case 'bytes':
      return typeof value === 'string' && BASE64.test(value.replaceAll(/[\r\n]/g, ''))
  }
}

/** Texts of another form cannot be read as these. */
const FORMATS: readonly Scalar[] = ['quantity', 'time', 'bytes']

/** Why a value that does not fit cannot be read as this scalar. */
function scalarProblem(node: Node, scalar: Scalar, path: Path): Problem {
  const allowed = ALLOWED[scalar]
  return FORMATS.includes(scalar) && node.type === 'scalar' && typeof node.value === 'string'
    ? { kind: 'bad-format', path, allowed, found: 'text of another form' }
    : { kind: 'wrong-type', path, allowed, found: writtenAs(node) }
}

const ALLOWED: Readonly<Record<Scalar, string>> = {
  string: 'a string, in quotes',
  boolean: 'true or false',
  number: 'a number',
  int32: 'a whole number of 32 bits',
  int64: 'a whole number of 64 bits',
  'int-or-string': 'a whole number of 32 bits, or a string',
  quantity: 'a quantity such as 500m, 2 or 1Gi',
  time: 'a time such as 2026-01-31T12:00:00Z',
  bytes: 'base64',
  any: 'any value',
}

const isNumber = (value: ScalarValue): boolean => typeof value === 'number' || typeof value === 'bigint'

function isInteger(value: ScalarValue, scalar: 'int32' | 'int64'): boolean {
  if (typeof value !== 'number' && typeof value !== 'bigint') return false
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const limit = scalar === 'int32' ? INT32 : INT64
  return -limit <= value && value < limit
}

/** Defaults of the API server that count before keys are compared (OpenAPI `default` of the keys of k8s.io/api). */
const DEFAULTS: ReadonlyMap<string, string> = new Map([['protocol', 'TCP']])

/** What tells an item of a keyed list from the others; undefined where the list has no keys or the item lacks one. */
export function keyOf(item: Node, keys: readonly string[] | '=', defaults = DEFAULTS): string | undefined {
  if (keys === '=') return item.type === 'scalar' ? String(item.value) : undefined
  if (keys.length === 0 || item.type !== 'map') return undefined
  if (keys.length === 1) return partOf(item, keys[0]!, defaults)
  const parts: string[] = []
  for (const key of keys) {
    const text = partOf(item, key, defaults)
    if (text === undefined) return undefined
    parts.push(text)
  }
  return JSON.stringify(parts)
}

function partOf(item: MapNode, key: string, defaults: ReadonlyMap<string, string>): string | undefined {
  const value = item.fields.get(key)?.value
  if (value?.type !== 'scalar') return defaults.get(key)
  if (value.opaque) return undefined
  return value.value === null ? defaults.get(key) : String(value.value)
}

/** Whether all items of a list have a key, and no two the same. */
export function areDistinct(
  items: readonly Node[],
  keys: readonly string[] | '=',
  defaults?: ReadonlyMap<string, string>,
): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const key = keyOf(item, keys, defaults)
    if (key === undefined) return false
    seen.add(key)
  }
  return seen.size === items.length
}

interface KnownNames {
  readonly names: readonly string[]
  /** The same as one text. */
  readonly text: string
}

const knownNames = oncePerName<ReadonlyMap<string, KnownSince>, KnownNames>()

/** The fields of a type that a version of Kubernetes knows. */
function namesIn(fields: ReadonlyMap<string, KnownSince>, version: number): KnownNames {
  return knownNames(fields, String(version), () => {
    const names = [...fields].flatMap(([name, field]) => (isKnownIn(field, version) ? [name] : []))
    return { names, text: names.join(', ') }
  })
}
