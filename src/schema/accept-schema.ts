import type { MapNode, Node } from '../kube/node.ts'
import type { AcceptField, AcceptObject } from './accept-plan.ts'
import { fitsDefault } from './core/fits-default.ts'
import { checkOneSchema, FREE, type SchemaLevel, TYPES } from './core/structural.ts'

/** Accepts the values of keywords. */
interface KeywordWalk {
  /** Set where defaults or rules are still to be compared. */
  isUnfinished: boolean
  value(key: string, node: Node, field: AcceptField): boolean
}

/**
 * Whether the schema of a CustomResourceDefinition certainly has no problem of its type and its structure, and which defaults and rules are
 * still to be compared; false says nothing. All are asked of one value at a time, because definitions are the largest objects of a fleet.
 */
export function acceptsSchema(walk: KeywordWalk, schema: MapNode, plan: AcceptObject): boolean {
  return new SchemaWalk(walk, keywordsOf(plan)).accepts(schema, 'root', true)
}

/** What a keyword says of the structure; undefined where any value of its type may stand. */
type Role = 'type' | 'properties' | 'items' | 'additional' | 'default' | 'other' | undefined

/** A keyword of schemas. */
interface Keyword {
  readonly name: string
  /** As in `AcceptField`. */
  next: Keyword | undefined
  readonly role: Role
  /** Undefined for one that the type does not know. */
  readonly field: AcceptField | undefined
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['type', 'type'],
  ['properties', 'properties'],
  ['items', 'items'],
  ['additionalProperties', 'additional'],
  ['default', 'default'],
])
const read = new WeakMap<AcceptObject, ReadonlyMap<string, Keyword>>()

function keywordsOf(plan: AcceptObject): ReadonlyMap<string, Keyword> {
  const known = read.get(plan)
  if (known) return known
  const keywords = new Map<string, Keyword>()
  for (const [name, field] of plan.fields)
    keywords.set(name, {
      name,
      next: undefined,
      role: ROLES.get(name) ?? (FREE.has(name) ? undefined : 'other'),
      field,
    })
  read.set(plan, keywords)
  return keywords
}

class SchemaWalk {
  readonly #walk: KeywordWalk
  readonly #keywords: ReadonlyMap<string, Keyword>
  readonly #start: Keyword = { name: '', next: undefined, role: 'other', field: undefined }
  #isRefused = false
  readonly #refuse = (): void => {
    this.#isRefused = true
  }

  constructor(walk: KeywordWalk, keywords: ReadonlyMap<string, Keyword>) {
    this.#walk = walk
    this.#keywords = keywords
  }

  /** `isTyped`: below `items` and `additionalProperties`, the types of values are not compared. */
  accepts(schema: MapNode, level: SchemaLevel, isTyped: boolean): boolean {
    if (schema.dropped !== undefined) return false
    let type = ''
    let hasItems = false
    let isPlain = level !== 'root'
    let last = this.#start
    for (const [key, field] of schema.fields) {
      let keyword = last.next
      if (keyword === undefined || keyword.name !== key) {
        keyword = this.#keywords.get(key)
        // one that the type does not know is seldom, and never accepted
        if (keyword === undefined) return false
        last.next = keyword
      }
      last = keyword
      if (keyword.role === undefined) {
        if (isTyped && !this.#walk.value(key, field.value, keyword.field!)) return false
      } else if (keyword.role === 'type') {
        const { value } = field
        if (value.type !== 'scalar' || typeof value.value !== 'string' || !TYPES.includes(value.value)) return false
        type = value.value
      } else if (keyword.role === 'properties') {
        if (!this.#properties(field.value, isTyped)) return false
      } else if (keyword.role === 'items') {
        if (field.value.type !== 'map' || !this.accepts(field.value, 'item', false)) return false
        hasItems = true
      } else if (keyword.role === 'default') {
        if (level === 'root' || !fitsDefault(field.value, schema)) this.#walk.isUnfinished = true
      } else {
        isPlain = false
        if (key === 'x-kubernetes-validations') this.#walk.isUnfinished = true
        if (keyword.role === 'additional') {
          if (field.value.type === 'map' && !this.accepts(field.value, 'field', false)) return false
        } else if (isTyped && !this.#walk.value(key, field.value, keyword.field!)) return false
      }
    }
    if (type === 'array' && !hasItems) return false
    return isPlain ? type !== '' : this.#rest(schema, level)
  }

  #rest(schema: MapNode, level: SchemaLevel): boolean {
    checkOneSchema(schema, level, this.#refuse)
    return !this.#isRefused
  }

  #properties(node: Node, isTyped: boolean): boolean {
    if (node.type !== 'map') return false
    for (const { value } of node.fields.values())
      if (value.type !== 'map' || !this.accepts(value, 'field', isTyped)) return false
    return true
  }
}
