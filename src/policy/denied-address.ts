import type { SourceAddress } from '../kube/address/source-address.ts'
import { at, type Node, type Path, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { textsOf } from '../kube/read-text.ts'
import type { KyvernoRule } from './kyverno-rules.ts'
import { type Leaf, matchPattern, type PatternOutcome } from './pattern-tree.ts'

/** The address of an object, and whether one alternative of a policy stands for it. */
interface Judged {
  readonly path: Path
  readonly address: SourceAddress
  readonly matches: (pattern: string) => boolean | undefined
}

/**
 * Whether a rule of Kyverno refuses an object because of its address; what it says about other fields is not asked. What
 * cannot be decided is not refused: the cluster enforces it.
 */
export function isAddressDenied(rule: KyvernoRule, object: KubeObject, judged: Judged): boolean {
  const { validate } = rule
  const [pattern, alternatives, deny] = [
    at(validate, ['pattern']),
    at(validate, ['anyPattern']),
    at(validate, ['deny']),
  ]
  if (pattern) return fails(matchPattern(pattern, object.root, leafOf(judged)), judged.path)
  if (alternatives?.type === 'list') {
    const outcomes = alternatives.items.map(one => matchPattern(one, object.root, leafOf(judged)))
    return outcomes.every(isFailure) && outcomes.some(one => fails(one, judged.path))
  }
  return deny !== undefined && isTrue(at(deny, ['conditions']), judged) === true
}

const isFailure = (outcome: PatternOutcome) => Array.isArray(outcome) && outcome.length > 0

const fails = (outcome: PatternOutcome, path: Path) =>
  Array.isArray(outcome) && outcome.some((one: Path) => one.join('/') === path.join('/'))

function leafOf({ path, matches }: Judged): Leaf {
  const field = path.join('/')
  return (pattern, _value, here) => {
    if (here.join('/') !== field || pattern.type !== 'scalar' || typeof pattern.value !== 'string') return undefined
    if (/[&{]|^\s*[!<>]|\|\s*[!<>]/.test(pattern.value)) return undefined
    return anyMatches(pattern.value.split('|'), matches)
  }
}

function anyMatches(patterns: readonly string[], matches: Judged['matches']): boolean | undefined {
  const answers = patterns.map(one => matches(one.trim()))
  if (answers.includes(true)) return true
  return answers.includes(undefined) ? undefined : false
}

/** `validate.deny.conditions` that ask for nothing but the address. */
function isTrue(conditions: Node | undefined, judged: Judged): boolean | undefined {
  if (conditions?.type === 'list') return everyTrue(conditions.items.map(one => holds(one, judged)))
  const [some, all] = [at(conditions, ['any']), at(conditions, ['all'])]
  if (some?.type === 'list' && !all) return some.items.map(one => holds(one, judged)).includes(true)
  return all?.type === 'list' && !some ? everyTrue(all.items.map(one => holds(one, judged))) : undefined
}

const everyTrue = (answers: readonly (boolean | undefined)[]) =>
  answers.length > 0 && answers.every(one => one === true)

const NEGATIVE = new Set(['NotEquals', 'NotIn', 'AnyNotIn', 'AllNotIn'])
const POSITIVE = new Set(['Equals', 'In', 'AnyIn', 'AllIn'])

function holds(condition: Node, { path, matches }: Judged): boolean | undefined {
  const key = /^\{\{\s*request\.object\.([\w.]+)(?:\s*\|\|\s*(?:''|""|`""`))?\s*\}\}$/.exec(
    stringAt(condition, ['key']) ?? '',
  )
  const operator = stringAt(condition, ['operator']) ?? ''
  const value = at(condition, ['value'])
  const values = value?.type === 'list' ? textsOf(value) : [stringAt(condition, ['value']) ?? '']
  if (key?.[1] !== path.join('.') || !values || values.some(one => one === '' || one.includes('{{'))) return undefined
  const isOne = anyMatches(values, matches)
  if (isOne === undefined || (!NEGATIVE.has(operator) && !POSITIVE.has(operator))) return undefined
  return NEGATIVE.has(operator) ? !isOne : isOne
}
