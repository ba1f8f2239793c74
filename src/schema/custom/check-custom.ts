import { oncePer } from '../../base/once-per.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { isAccepted } from '../accept-walk.ts'
import { type SchemaAnswer, withoutSops } from '../check-object.ts'
import { isUnknown, type Problem } from '../core/problem.ts'
import { nameProblem } from '../core/texts.ts'
import { areDistinct, MAX_PROBLEMS, TypeWalk } from '../type-walk.ts'
import { NEWEST } from '../types-table.ts'
import { checkRules, type RuleNotEvaluated } from './check-rules.ts'
import { type CustomSchema, withDefaults } from './custom-schema.ts'
import {
  CustomWalk,
  NEEDED_IN_OBJECTS,
  OBJECT_FIELDS,
  typeMissed,
  type ValueListener,
  valueProblems,
} from './custom-walk.ts'
import type { Definition } from './definition.ts'

/**
 * Compares an object with its custom resource definition as the API server does: defaults, then the schema, object metadata
 * and CEL rules (k8s.io/apiextensions-apiserver, pkg/apiserver). `old`: the object before an update.
 */
export function checkCustom(
  root: MapNode,
  definition: Definition,
  { isDecrypted = false, old }: { readonly isDecrypted?: boolean; readonly old?: MapNode | undefined } = {},
): SchemaAnswer {
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  const name = apiVersion.slice(apiVersion.indexOf('/') + 1)
  if (!definition.served.includes(name)) return notServed(apiVersion, definition)
  const version = definition.version(name)
  if (version === undefined) return { problems: [], count: 0, isKnown: false }
  const written = isDecrypted ? withoutSops(root) : root
  const quick = acceptsCustom(written, version.schema)
  const object = quick === 'valid' ? written : withDefaults(written, version.schema)
  const walk = new CustomWalk()
  if (quick === 'unsure') walk.value(object, version.schema, true)
  const metadata = at(object, METADATA)
  const ofMetadata = new TypeWalk(NEWEST, METADATA)
  ofMetadata.add(nameProblem(object, 'subdomain'))
  if (metadata && !isAccepted(metadata, OBJECT_META, NEWEST, METADATA)) ofMetadata.object(metadata, OBJECT_META)
  for (const one of withDroppedLabels(ofMetadata.problems)) walk.problem(one)
  const notEvaluated: RuleNotEvaluated[] = []
  // the API server skips CEL rules for an object that has one of these problems
  if (walk.problems.some(one => BLOCKING.has(one.kind))) walk.undecided += version.schema.hasRules ? 1 : 0
  else if (quick !== 'valid') {
    const isOneKind = old !== undefined && stringAt(old, ['apiVersion']) === apiVersion
    checkRules(object, version, isOneKind ? withDefaults(old, version.schema) : undefined, {
      problem: one => walk.problem(one),
      notEvaluated(one) {
        walk.undecided += 1
        if (notEvaluated.length < MAX_PROBLEMS) notEvaluated.push(one)
      },
    })
  }
  return {
    problems: walk.problems,
    count: walk.count + ofMetadata.count - ofMetadata.problems.length,
    undecided: walk.undecided,
    notEvaluated,
    isKnown: true,
  }
}

/**
 * Flux reads the labels as texts and writes them again; if one is of another type it writes only its own, so the others do not reach the
 * API server (fluxcd/pkg, ssa/manager.go, SetOwnerLabels).
 */
function withDroppedLabels(problems: readonly Problem[]): Problem[] {
  const isOfLabels = ({ path }: Problem) => path[1] === 'labels'
  if (!problems.some(one => one.kind === 'wrong-type' && isOfLabels(one))) return [...problems]
  return problems.flatMap((one): Problem[] => {
    if (!isOfLabels(one)) return [one]
    return one.kind === 'wrong-type' ? [{ ...one, kind: 'dropped-labels' }] : []
  })
}

const METADATA = ['metadata']
const OBJECT_META = 'meta.v1.ObjectMeta'
const BLOCKING: ReadonlySet<Problem['kind']> = new Set(['missing-field', 'wrong-type', 'not-allowed'])

function notServed(apiVersion: string, { served }: Definition): SchemaAnswer {
  const names = served.map(version => `${groupOf(apiVersion)}/${version}`)
  const allowed = names.join(', ')
  const problem: Problem = {
    kind: 'unknown-kind',
    path: ['apiVersion'],
    allowed,
    found: 'a version that is not served',
    names,
  }
  return { problems: [problem], count: 1, isKnown: true }
}

/**
 * `valid`: with its schema's defaults the object certainly has no problem, and no rule applies. `ruled`: only rules can
 * find one. `unsure` decides nothing: `CustomWalk` finds what is wrong.
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
      if (inner.default !== undefined && !node.fields.has(key) && !isFineDefault(inner)) return false
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
}

/** Whether the default of a schema, with those below it, is valid and has no rules. */
const isFineDefault = oncePer((schema: CustomSchema): boolean => {
  const walk = new CustomAcceptWalk()
  return walk.accepts(schema.default!, schema, true) && !walk.isRuled
})

const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

/** Whether a value matches a part of `oneOf` or `not`; undefined if not known. */
function fitsPart(node: Node, schema: CustomSchema, isRoot: boolean): boolean | undefined {
  const walk = new CustomWalk(isRoot ? [] : ['somewhere'])
  walk.value(node, schema, false)
  if (walk.count > 0) return false
  return walk.undecided === 0 ? true : undefined
}

/** Whether a schema checks something of a value that the defaults below it can change. */
const mayDependOnDefaults = (node: Node, schema: CustomSchema): boolean =>
  schema.hasLogic || schema.words !== undefined || schema.isUnique || (node.type === 'map' && schema.isBounded)

const hasRulesHere = ({ rules, all }: CustomSchema): boolean => rules.length > 0 || all.length > 0
const isUntyped = ({ type, isIntOrString }: CustomSchema): boolean => type === '' && !isIntOrString
