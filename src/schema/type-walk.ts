import type { MapNode, Node, Path, ScalarNode } from '../kube/node.ts'
import { emptyFields, isEnforced, jobProblem } from './beyond-types.ts'
import { scalarProblem } from './check-scalar.ts'
import { checksOf } from './core/checks-of.ts'
import { keyOf } from './key-of.ts'
import { isUnknown } from './model/is-unknown.ts'
import type { Problem } from './model/problem.ts'
import { type FieldType, isKnownIn, type KnownSince, type ObjectType, objectType } from './types-table.ts'
import { writtenAs } from './written-as.ts'

/** More of one object tell nobody more; the number of all is said. */
export const MAX_PROBLEMS = 50

const isNull = (node: Node): node is ScalarNode => node.type === 'scalar' && node.value === null
const NOTHING: Node = { type: 'scalar', value: null, origin: { repository: '', file: '', line: 1, column: 1 } }

/** One walk through an object; the tree of its types ends where JSON of any shape begins. */
export class TypeWalk {
  readonly problems: Problem[] = []
  count = 0
  readonly #version: number
  /** The path of the current value. One list serves all fields, because most have no problem; `add` copies it. */
  readonly #path: (string | number)[]
  readonly #hear = (problem: Problem) => this.add(problem)

  /** `start`: path of the first value in its object. */
  constructor(version: number, start: Path = []) {
    this.#version = version
    this.#path = [...start]
  }

  value(node: Node, type: FieldType, words?: readonly string[], isItem = false): void {
    // null is as if the field were absent
    if (isNull(node) || isUnknown(node)) return
    const path = this.#path
    if (type.is === 'scalar') this.add(scalarProblem(node, type.scalar, path) ?? wordProblem(node, words, path, isItem))
    else if (type.is === 'list') this.#list(node, type, words)
    else if (type.is === 'map') {
      if (node.type !== 'map') this.#wrong(node, path, 'a map')
      else for (const [key, { value }] of node.fields) this.#below(key, value, type.values)
    } else {
      const object = objectType(type.type)
      if (object === undefined) return
      if (node.type === 'map') this.#object(node, object)
      else this.#wrong(node, path, 'a map')
    }
  }

  #below(key: string | number, node: Node, type: FieldType, words?: readonly string[], isItem = false): void {
    this.#path.push(key)
    this.value(node, type, words, isItem)
    this.#path.pop()
  }

  #object(node: MapNode, type: ObjectType): void {
    const { name } = type
    const path = this.#path
    const checks = checksOf(name)
    for (const [key, { value }] of node.fields) {
      const field = type.fields.get(key)
      if (field && isKnownIn(field, this.#version)) {
        this.#below(key, value, field.type, type.words.get(key))
        checks?.fields.get(key)?.(value, [...path, key], this.#hear)
      } else this.#unknown(type.fields, key, path)
    }
    for (const key of node.dropped?.keys() ?? []) {
      if (path.length > 0 || key !== 'sops') this.#unknown(type.fields, key, path, 'dropped-field')
    }
    // controllers write the status: what is missing there is not asked for
    if (path[0] === 'status') return
    for (const check of checks?.type ?? []) check(node, path, this.#hear)
    const ofJob = jobProblem(name, node)
    this.add(ofJob && { ...ofJob, path: [...path, ...ofJob.path] })
    const isMissing = (key: string) => isNull(node.fields.get(key)?.value ?? NOTHING)
    const missing = type.required.filter(key => isMissing(key) && isEnforced(name, key))
    const empty = emptyFields(name, node)
    if (missing.length + empty.length === 0) return
    for (const key of new Set([...missing, ...empty])) {
      this.add({ kind: 'missing-field', path: [...path, key], allowed: 'a value', found: 'nothing' })
    }
  }

  #unknown(
    fields: ReadonlyMap<string, KnownSince>,
    key: string,
    path: Path,
    kind: Problem['kind'] = 'unknown-field',
  ): void {
    const elsewhere = fields.get(key)
    const names = [...fields].filter(([, field]) => isKnownIn(field, this.#version)).map(([name]) => name)
    const when = elsewhere && {
      ...(elsewhere.since > this.#version ? { since: `1.${elsewhere.since}` } : {}),
      ...(elsewhere.until < this.#version ? { until: `1.${elsewhere.until}` } : {}),
    }
    this.add({
      kind,
      path: [...path, key],
      allowed: names.join(', '),
      found: 'an unknown field',
      names,
      ...when,
    })
  }

  #list(node: Node, type: FieldType & { is: 'list' }, words?: readonly string[]): void {
    const path = this.#path
    if (node.type !== 'list') {
      this.#wrong(node, path, 'a list')
      return
    }
    const seen = new Set<string>()
    for (const [index, item] of node.items.entries()) {
      const key = keyOf(item, type.keys)
      if (key !== undefined && seen.has(key)) {
        const what = type.keys === '=' ? 'each value once' : `each ${type.keys.join(' and ')} once`
        this.add({ kind: 'duplicate', path: [...path, index], allowed: what, found: 'a duplicate' })
      }
      if (key !== undefined) seen.add(key)
      if (isNull(item)) this.#nothing(item, index, type, words)
      else this.#below(index, item, type.items, words, true)
    }
  }

  /** Checks a null list item. A keyed list allows none; elsewhere it counts as an empty object or an empty text. */
  #nothing(
    item: ScalarNode,
    index: number,
    type: FieldType & { is: 'list' },
    words: readonly string[] | undefined,
  ): void {
    const path = [...this.#path, index]
    if (type.keys !== '=' && type.keys.length > 0) this.#wrong(item, path, 'a map')
    else if (type.items.is === 'object')
      this.#below(index, { type: 'map', fields: new Map(), origin: item.origin }, type.items)
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
