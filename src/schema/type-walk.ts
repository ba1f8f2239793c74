import type { MapNode, Node, Path, ScalarNode } from '../kube/node.ts'
import { isEmpty } from './beyond-types.ts'
import { fitsScalar, scalarProblem } from './check-scalar.ts'
import { type FieldPlan, type ObjectPlan, objectPlan } from './field-plan.ts'
import { keyOf } from './key-of.ts'
import { isUnknown } from './model/is-unknown.ts'
import type { Problem } from './model/problem.ts'
import { writtenAs } from './model/written-as.ts'
import { isKnownIn, type KnownSince } from './types-table.ts'

/** More of one object tell nobody more; the number of all is said. */
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
    // controllers write the status: what is missing there is not asked for
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
