import { oncePer, oncePerText } from '../../base/once-per.ts'
import { readGoDuration, readTimestamp } from '../../expr/arithmetic.ts'
import { SharedSteps } from '../../expr/evaluate.ts'
import { PolicyExpression } from '../../expr/libraries/kubernetes-library.ts'
import { RESERVED } from '../../expr/parse-cel.ts'
import { AssociativeList, CelMap, type CelValue, fromJson, NotKnown, Optional, Time } from '../../expr/values.ts'
import {
  canonical,
  isNull,
  type ListNode,
  type MapNode,
  type Node,
  type Path,
  toJson,
  withoutField,
} from '../../kube/node.ts'
import { isUnknown, type Problem } from '../core/problem.ts'
import { keyOf } from '../type-walk.ts'
import { ANYTHING, type CustomRule, type CustomSchema, schemaOf } from './custom-schema.ts'
import type { CustomVersion } from './definition.ts'

const SCALARS = new Set(['string', 'boolean', 'number', 'integer'])

/** Whether rules can read values of a schema; values without a type are hidden (k8s.io/apiserver pkg/cel/common, SchemaDeclType). */
function isExposed(schema: CustomSchema): boolean {
  if (schema.isIntOrString || SCALARS.has(schema.type)) return true
  if (schema.type === 'array') return schema.items !== undefined && isExposed(schema.items)
  if (schema.type !== 'object') return false
  const { additional } = schema
  return additional === undefined || additional === ANYTHING || schema.properties.size > 0 || isExposed(additional)
}

/** A rule that could not be evaluated. */
export interface RuleNotEvaluated {
  readonly path: Path
  readonly rule: string
  readonly why: string
}

interface Heard {
  problem(problem: Problem): void
  notEvaluated(one: RuleNotEvaluated): void
}

/** Budget for all rules of one object; the API server has its own limit, whose units are no smaller. */
const MAX_STEPS = 10_000_000
/** The API server ignores a longer message from an expression. */
const LONGEST_MESSAGE = 5_120

/**
 * Evaluates the CEL rules of a structural schema for an object with its defaults, as the API server does when the object is created,
 * or updated from `old` (k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel).
 */
export function checkRules(
  root: MapNode,
  { schema, hasStatus }: CustomVersion,
  old: MapNode | undefined,
  heard: Heard,
): void {
  // the API server ignores rules if a schema has them only under `allOf`
  if (!schema.hasRules) return
  const [object, before] = hasStatus ? [withoutField(root, 'status'), old && withoutField(old, 'status')] : [root, old]
  const walk = new RuleWalk(heard)
  // the status is not part of a new object, and an update keeps the one that controllers wrote
  for (const node of hasStatus && before ? [object, before] : []) walk.hideStatus(node, schema)
  walk.visit(object, { schema, rules: schema, path: [], isRoot: true }, correlatedRoot(object, before))
}

interface Place {
  readonly schema: CustomSchema
  /** The schema that contains the rules: `schema` itself, or a part of one of its `allOf`. */
  readonly rules: CustomSchema
  readonly path: Path
  readonly isRoot: boolean
}

class RuleWalk {
  readonly #heard: Heard
  readonly #budget = new SharedSteps(MAX_STEPS)
  readonly #values = new Map<Node, CelValue>()

  constructor(heard: Heard) {
    this.#heard = heard
  }

  hideStatus(node: MapNode, schema: CustomSchema): void {
    const { entries } = typedValue(node, schema, true) as CelMap
    const unknown = new NotKnown('status is set by the cluster', true)
    this.#values.set(node, new CelMap(new Map([...entries, ['sstatus', ['status', unknown]]])))
  }

  visit(node: Node, place: Place, related: Correlated): void {
    const { schema, rules, path } = place
    if (isNull(node) || !areHeard(schema, rules)) return
    for (const rule of rules.rules) if (readyRule(rule).text !== '') this.#ask(rule, node, place, related)
    for (const one of rules.all) {
      // for rules under `allOf` at the root, the API server also evaluates unchanged values
      this.visit(node, { ...place, rules: one }, { old: related.old, isSame: path.length > 0 && related.isSame })
    }
    if (node.type === 'map') {
      for (const [key, { value }] of node.fields) {
        const inner = placeOf(
          schema.properties.get(key) ?? schema.additional,
          rules.properties.get(key) ?? rules.additional,
        )
        if (inner) this.visit(value, { ...inner, path: [...path, key] }, correlatedField(related, key, value))
      }
    } else if (node.type === 'list') {
      const inner = placeOf(schema.items, rules.items)
      if (!inner) return
      const before = correlatedItems(related, node.items, schema)
      for (const [index, item] of node.items.entries())
        this.visit(item, { ...inner, path: [...path, index] }, before[index] ?? NOTHING_BEFORE)
    }
  }

  #ask(rule: CustomRule, node: Node, { schema, path, isRoot }: Place, { old, isSame }: Correlated): void {
    const { expression, isTransition, text, fields } = readyRule(rule)
    if (isTransition && old === undefined && !rule.isOldOptional) return
    const here = () => [...path, ...fields]
    if ('problem' in expression) {
      this.#heard.notEvaluated({ path: here(), rule: text, why: expression.problem })
      return
    }
    const self = this.#valueOf(node, schema, isRoot)
    const before = old === undefined ? undefined : this.#valueOf(old, schema, isRoot)
    const outcome = expression.evaluate(namesOf(self, before, rule.isOldOptional), this.#budget)
    const refuse = (found: string) => this.#heard.problem({ kind: 'rule', path: here(), allowed: text, found })
    if ('notEvaluated' in outcome) this.#heard.notEvaluated({ path: here(), rule: text, why: outcome.notEvaluated })
    else if ('error' in outcome) refuse(`${outcome.error} evaluating rule: ${rule.message.trim() || text}`)
    else if (outcome.value !== true && (!isSame || isTransition))
      refuse(this.#messageOf(rule, namesOf(self, before, false)))
  }

  #valueOf(node: Node, schema: CustomSchema, isRoot: boolean): CelValue {
    const known = this.#values.get(node)
    if (known !== undefined) return known
    const made = typedValue(node, schema, isRoot)
    this.#values.set(node, made)
    return made
  }

  #messageOf(rule: CustomRule, names: ReadonlyMap<string, CelValue>): string {
    const made = rule.messageExpression.trim() === '' ? undefined : compiled(rule.messageExpression)
    const outcome = made && !('problem' in made) ? made.evaluate(names, this.#budget) : undefined
    const text = outcome && 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : ''
    if (text !== '' && !text.includes('\n') && text.length <= LONGEST_MESSAGE) return text
    return rule.message.trim() || `failed rule: ${rule.rule.trim()}`
  }
}

/** The schema and the rules one step further down; undefined if rules cannot apply there. */
function placeOf(schema: CustomSchema | undefined, rules: CustomSchema | undefined): Omit<Place, 'path'> | undefined {
  if (schema === undefined || rules === undefined || schema === ANYTHING || rules === ANYTHING) return undefined
  return areHeard(schema, rules) && isExposed(schema) ? { schema, rules, isRoot: schema.isEmbedded } : undefined
}

/** Whether a value of this schema, or one below it, may have rules. */
const areHeard = (schema: CustomSchema, rules: CustomSchema): boolean =>
  rules !== schema || schema.hasRules || schema.all.length > 0

function namesOf(self: CelValue, old: CelValue | undefined, isOptional: boolean): ReadonlyMap<string, CelValue> {
  const names = new Map([['self', self]])
  if (isOptional) names.set('oldSelf', new Optional(old))
  else if (old !== undefined) names.set('oldSelf', old)
  return names
}

/** Size of the cache of compiled expressions; a large project has some hundreds. */
const KEPT = 5_000
const compiled = oncePerText(KEPT, text => PolicyExpression.compile(text))

/** A rule, prepared once. */
interface ReadyRule {
  readonly expression: ReturnType<typeof PolicyExpression.compile>
  readonly isTransition: boolean
  readonly text: string
  readonly fields: readonly string[]
}

const readyRule = oncePer((rule: CustomRule): ReadyRule => {
  const expression = compiled(rule.rule)
  const isTransition = !('problem' in expression) && expression.reads('oldSelf')
  return { expression, isTransition, text: rule.rule.trim(), fields: fieldsOf(rule.fieldPath) }
})

/** The steps of a `fieldPath`, such as `.spec['a.b']`. */
function fieldsOf(text: string): string[] {
  return [...text.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)].map(
    ([, name, quoted]) => name ?? quoted!.replace(/\\(.)/g, '$1'),
  )
}

const WORDS = new Set([...RESERVED, 'true', 'false', 'null', 'in'])
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** A field name as CEL rules write it; undefined if no rule can refer to it (k8s.io/apiserver pkg/cel/escaping.go). */
function escapeName(name: string): string | undefined {
  if (WORDS.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, part => ESCAPES[part]!)
}

/** No supported time format is longer. */
const MAX_TIME = 100
const FORMATS = new Set(['duration', 'date', 'date-time'])

type Entries = Map<string, readonly [CelValue, CelValue]>

/** Rules can read only these fields of an object's metadata. */
const METADATA = schemaOf({
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
})
const TEXT = schemaOf({ type: 'string' })

/**
 * A value as the rules of a schema see it (k8s.io/apiserver pkg/cel/common, UnstructuredToVal). Types come from the
 * schema. Rules cannot read undeclared fields, but comparisons include them. `isRoot`: the value is an object with
 * apiVersion, kind and metadata.
 */
function typedValue(node: Node, schema: CustomSchema, isRoot = schema.isEmbedded): CelValue {
  if (isUnknown(node)) return new NotKnown('a value that is not known before it is applied')
  if (node.type === 'map') return schema.type === 'object' ? ofMap(node, schema, isRoot) : untyped(node)
  if (node.type === 'list')
    return schema.type === 'array' && schema.items !== undefined ? ofList(node, schema, schema.items) : untyped(node)
  const { value } = node
  if (typeof value === 'string') return schema.isIntOrString ? value : ofText(value, schema)
  if (value === null || typeof value === 'boolean') return value
  if (schema.type === 'number' && !schema.isIntOrString) return Number(value)
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

function untyped(node: Node): CelValue {
  if (node.type === 'list') return node.items.map(untyped)
  if (node.type === 'scalar') return fromJson(toJson(node))
  return new CelMap(() => new Map([...node.fields].map(([key, { value }]) => [`s${key}`, [key, untyped(value)]])))
}

const ofMap = (node: MapNode, schema: CustomSchema, isRoot: boolean): CelMap =>
  new CelMap(() => entriesOf(node, schema, isRoot))

function entriesOf(node: MapNode, schema: CustomSchema, isRoot: boolean): Entries {
  const entries: Entries = new Map()
  const isStruct = isRoot || schema.properties.size > 0
  for (const [key, { value }] of node.fields) {
    const inner = isRoot ? rootField(key, schema) : fieldSchema(key, schema)
    const name = isStruct ? escapeName(key) : key
    const isAbsent = isStruct && value.type === 'scalar' && value.value === null
    // this key is not a field name, so comparisons include the value but rules cannot read it
    if (inner === undefined || name === undefined || isAbsent) entries.set(`hidden ${key}`, [key, untyped(value)])
    else entries.set(`s${name}`, [name, typedValue(value, inner)])
  }
  return entries
}

function fieldSchema(key: string, { properties, additional }: CustomSchema): CustomSchema | undefined {
  const inner = properties.get(key) ?? (properties.size > 0 ? undefined : additional)
  return inner === ANYTHING ? undefined : inner
}

function rootField(key: string, schema: CustomSchema): CustomSchema | undefined {
  if (key === 'metadata') return METADATA
  return key === 'apiVersion' || key === 'kind' ? TEXT : fieldSchema(key, schema)
}

function ofList(node: ListNode, schema: CustomSchema, inner: CustomSchema): CelValue {
  const items = node.items.map(item => typedValue(item, inner))
  if (schema.keys === '=') return AssociativeList.with(items, undefined)
  if (schema.keys.length === 0) return items
  return AssociativeList.with(
    items,
    schema.keys.map(key => escapeName(key) ?? key),
  )
}

/** Texts of some formats become typed values. A text that this parser does not support is unknown, because the API server may parse it. */
function ofText(text: string, { type, format }: CustomSchema): CelValue {
  if (type !== 'string') return text
  if (format !== 'byte' && text.length > MAX_TIME && FORMATS.has(format)) return time('timestamp', undefined)
  if (format === 'duration') return time('duration', readGoDuration(text))
  if (format === 'date') return time('timestamp', readTimestamp(`${text}T00:00:00Z`))
  if (format === 'date-time') return time('timestamp', readTimestamp(text.toUpperCase()))
  return format === 'byte' ? Uint8Array.from(Buffer.from(text, 'base64')) : text
}

const time = (kind: 'timestamp' | 'duration', nanos: bigint | undefined): CelValue =>
  nanos === undefined ? new NotKnown(`a ${kind} in a form that is not supported`) : new Time(kind, nanos)

/**
 * The value before an update, as far as the API server can correlate it: fields by name, list items by key
 * (k8s.io/apiserver pkg/cel/common, CorrelatedObject). An unchanged value may keep violating a rule.
 */
interface Correlated {
  /** Undefined if no old value correlates with this one. */
  readonly old: Node | undefined
  /** The value is unchanged or, if it has no old value, the closest correlated value around it is. */
  readonly isSame: boolean
}

/** For a new object. */
const NOTHING_BEFORE: Correlated = { old: undefined, isSame: false }

function correlatedRoot(root: MapNode, old: MapNode | undefined): Correlated {
  return old === undefined ? NOTHING_BEFORE : { old, isSame: canonical(root) === canonical(old) }
}

function correlatedField({ old, isSame }: Correlated, key: string, value: Node): Correlated {
  const before = old?.type === 'map' ? old.fields.get(key)?.value : undefined
  return before === undefined ? { old: undefined, isSame } : pair(before, value)
}

/** The correlated items of a list, in order. */
function correlatedItems({ old, isSame }: Correlated, items: readonly Node[], schema: CustomSchema): Correlated[] {
  const none: Correlated = { old: undefined, isSame }
  const { keys } = schema
  if (old?.type !== 'list' || keys === '=' || keys.length === 0) return items.map(() => none)
  const before = new Map<string, Node>()
  for (const item of old.items) {
    const key = keyOf(item, keys, NO_DEFAULTS)
    if (key !== undefined && !before.has(key)) before.set(key, item)
  }
  return items.map(item => {
    const key = keyOf(item, keys, NO_DEFAULTS)
    const was = key === undefined ? undefined : before.get(key)
    return was === undefined ? none : pair(was, item)
  })
}

/** The value already includes the defaults. */
const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

const pair = (old: Node, value: Node): Correlated => ({ old, isSame: canonical(value) === canonical(old) })
