import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { PolicyQuestion } from '../engine.ts'
import { matchesAddress } from './address-pattern.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { type Leaf, matchPattern, type PatternOutcome } from './pattern-tree.ts'

/** Whether one alternative of a policy stands for the address. */
type Matches = (pattern: string) => boolean

/**
 * Whether `validate` of a rule refuses an object because of its address, by pattern, anyPattern or deny; what it says about other
 * fields is not asked. Undefined: that cannot be decided here.
 */
export function deniesAddress(validate: Node, { subject, field, ...given }: PolicyQuestion): boolean | undefined {
  const { root } = subject.object
  // in the one spelling where the pattern is an address, else as Kyverno itself compares
  const matches: Matches = pattern =>
    matchesAddress(pattern, given.address, given.form) ?? matchesWildcard(pattern, given.written)
  const [pattern, alternatives, deny] = [
    at(validate, ['pattern']),
    at(validate, ['anyPattern']),
    at(validate, ['deny']),
  ]
  if (pattern) return fails(matchPattern(pattern, root, leafOf(field, matches)), field)
  if (alternatives?.type === 'list') {
    const outcomes = alternatives.items.map(one => matchPattern(one, root, leafOf(field, matches)))
    if (outcomes.some(one => one !== undefined && !isFailure(one))) return false
    if (outcomes.includes(undefined)) return undefined
    return outcomes.some(one => fails(one, field))
  }
  return deny !== undefined && isTrue(at(deny, ['conditions']), field, matches)
}

const isFailure = (outcome: PatternOutcome) => Array.isArray(outcome) && outcome.length > 0

function fails(outcome: PatternOutcome, field: Path): boolean | undefined {
  if (outcome === 'skip') return false
  return outcome?.some(one => one.join('/') === field.join('/'))
}

function leafOf(field: Path, matches: Matches): Leaf {
  return (pattern, _value, here) => {
    if (here.join('/') !== field.join('/') || pattern.type !== 'scalar' || typeof pattern.value !== 'string')
      return undefined
    if (/[&{]|^\s*[!<>]|\|\s*[!<>]/.test(pattern.value)) return undefined
    return anyMatches(pattern.value.split('|'), matches)
  }
}

const anyMatches = (patterns: readonly string[], matches: Matches) => patterns.some(one => matches(one.trim()))

/** `validate.deny.conditions`, of which only those about the address are known. */
function isTrue(conditions: Node | undefined, field: Path, matches: Matches): boolean | undefined {
  const answersOf = (list: Node | undefined) =>
    list?.type === 'list' ? list.items.map(one => holds(one, field, matches)) : undefined
  if (conditions?.type === 'list') return everyTrue(answersOf(conditions)!)
  const [some, all] = [answersOf(at(conditions, ['any'])), answersOf(at(conditions, ['all']))]
  if (some && !all) return some.includes(true) || (some.includes(undefined) ? undefined : false)
  return all && !some ? everyTrue(all) : undefined
}

function everyTrue(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : answers.length > 0
}

const NEGATIVE = new Set(['NotEquals', 'NotIn', 'AnyNotIn', 'AllNotIn'])
const POSITIVE = new Set(['Equals', 'In', 'AnyIn', 'AllIn'])

function holds(condition: Node, field: Path, matches: Matches): boolean | undefined {
  const key = /^\{\{\s*request\.object\.([\w.]+)(?:\s*\|\|\s*(?:''|""|`""`))?\s*\}\}$/.exec(
    stringAt(condition, ['key']) ?? '',
  )
  const operator = stringAt(condition, ['operator']) ?? ''
  const value = at(condition, ['value'])
  const values = value?.type === 'list' ? textsOf(value) : [stringAt(condition, ['value']) ?? '']
  if (key?.[1] !== field.join('.') || !values || values.some(one => one === '' || one.includes('{{'))) return undefined
  if (NEGATIVE.has(operator)) return !anyMatches(values, matches)
  return POSITIVE.has(operator) ? anyMatches(values, matches) : undefined
}
