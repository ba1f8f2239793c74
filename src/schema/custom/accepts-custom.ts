import type { MapNode, Node } from '../../kube/node.ts'
import { areDistinct } from '../are-distinct.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { CustomSchema } from './custom-schema.ts'
import { CustomWalk, NEEDED_IN_OBJECTS, OBJECT_FIELDS, typeMissed } from './custom-walk.ts'
import { type ValueListener, valueProblems } from './value-problems.ts'

/**
 * `valid`: with the defaults of its schema the object certainly has no problem, and no rule is about it. `ruled`: only rules can
 * find one. `unsure` says nothing: `CustomWalk` says what is wrong.
 */
type CustomAnswer = 'valid' | 'ruled' | 'unsure'

/** Compares an object with its schema as `CustomWalk` does, without making the object with its defaults. */
export function acceptsCustom(root: MapNode, schema: CustomSchema): CustomAnswer {
  // the metadata is compared once more, with its own type
  if (schema.properties.get('metadata')?.hasDefaults) return 'unsure'
  const walk = new CustomAcceptWalk()
  if (!walk.accepts(root, schema, true, true)) return 'unsure'
  return walk.isRuled ? 'ruled' : 'valid'
}

class CustomAcceptWalk implements ValueListener {
  /** Some value may have a rule. */
  isRuled = false
  #isRefused = false

  problem(): void {
    this.#isRefused = true
  }

  unsure(): void {
    this.#isRefused = true
  }

  accepts(node: Node, schema: CustomSchema, isStructural: boolean, isRoot = false): boolean {
    if (hasRulesHere(schema)) this.isRuled = true
    if (node.type === 'scalar') {
      if (isUnknown(node)) return false
      if (schema.isPlainText && typeof node.value === 'string') return true
      if (node.value === null) return schema.isNullable || (isUntyped(schema) && schema.default === undefined)
    } else if (schema.hasDefaults && mayDependOnDefaults(node, schema)) return false
    if (typeMissed(node, schema) !== undefined) return false
    if (schema.isBounded && !this.#isInBounds(node, schema)) return false
    if (node.type === 'map' && !this.#map(node, schema, isStructural, isRoot)) return false
    if (node.type === 'list' && !this.#list(node.items, schema, isStructural)) return false
    return !schema.hasLogic || this.#logic(node, schema, isRoot)
  }

  #isInBounds(node: Node, schema: CustomSchema): boolean {
    this.#isRefused = false
    valueProblems(node, schema, [], this)
    return !this.#isRefused
  }

  #map(node: MapNode, schema: CustomSchema, isStructural: boolean, isRoot: boolean): boolean {
    const isObject = isStructural && (isRoot || schema.isEmbedded)
    for (const [key, field] of node.fields) {
      const inner = schema.properties.get(key) ?? schema.additional
      if (isRoot && key === 'status') this.isRuled ||= schema.hasRules
      else if (inner === undefined) {
        if (isStructural && !schema.isOpen && !(isObject && OBJECT_FIELDS.has(key))) return false
      } else if (!this.accepts(field.value, inner, isStructural && !(isObject && key === 'metadata'))) return false
    }
    for (const [key, inner] of schema.defaulted)
      if (inner.default !== undefined && !node.fields.has(key) && !this.#isFineDefault(inner)) return false
    for (const key of schema.required)
      if (!node.fields.has(key) && !(isRoot && key === 'status') && schema.properties.get(key)?.default === undefined)
        return false
    return !isObject || isRoot || NEEDED_IN_OBJECTS.every(key => node.fields.has(key))
  }

  #list(items: readonly Node[], schema: CustomSchema, isStructural: boolean): boolean {
    // keys are compared as they are written: an item that gets one from a default is not certain
    if (isStructural && schema.keys.length > 0 && items.length > 1 && !areDistinct(items, schema.keys, NO_DEFAULTS))
      return false
    const inner = schema.items
    if (inner === undefined) return true
    for (const item of items) if (!this.accepts(item, inner, isStructural)) return false
    return true
  }

  #logic(node: Node, schema: CustomSchema, isRoot: boolean): boolean {
    for (const part of schema.all) if (!this.accepts(node, part, false, isRoot)) return false
    if (schema.any.length > 0 && !schema.any.some(part => this.accepts(node, part, false, isRoot))) return false
    if (schema.one.length > 0) {
      const fits = schema.one.map(part => fitsPart(node, part, isRoot))
      if (fits.includes(undefined) || fits.filter(Boolean).length !== 1) return false
    }
    return schema.not === undefined || fitsPart(node, schema.not, isRoot) === false
  }

  #isFineDefault(schema: CustomSchema): boolean {
    const known = fineDefaults.get(schema)
    if (known !== undefined) return known
    const walk = new CustomAcceptWalk()
    const isFine = walk.accepts(schema.default!, schema, true) && !walk.isRuled
    fineDefaults.set(schema, isFine)
    return isFine
  }
}

/** Whether the default of a schema, with those below it, is valid and has no rules. */
const fineDefaults = new WeakMap<CustomSchema, boolean>()

const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

/** Whether a value fits a part of `oneOf` or `not`; undefined where that cannot be said. */
function fitsPart(node: Node, schema: CustomSchema, isRoot: boolean): boolean | undefined {
  const walk = new CustomWalk(isRoot ? [] : ['somewhere'])
  walk.value(node, schema, false)
  if (walk.count > 0) return false
  return walk.undecided === 0 ? true : undefined
}

/** Whether a schema says something of a value that the defaults below it can change. */
const mayDependOnDefaults = (node: Node, schema: CustomSchema): boolean =>
  schema.hasLogic || schema.words !== undefined || schema.isUnique || (node.type === 'map' && schema.isBounded)

const hasRulesHere = ({ rules, all }: CustomSchema): boolean => rules.length > 0 || all.length > 0
const isUntyped = ({ type, isIntOrString }: CustomSchema): boolean => type === '' && !isIntOrString
