import { readGoDuration } from '../../expr/arithmetic.ts'
import { parseQuantity } from '../../expr/libraries/quantity.ts'
import { orderOfVersions, readVersion } from '../../expr/libraries/semver.ts'
import { readFloat } from '../jmespath/object-functions.ts'
import {
  type ContextValue,
  type Fields,
  goText,
  isFields,
  isList,
  isSame,
  known,
  matchesWildcard,
  RuleError,
  textAt,
} from '../jmespath/values.ts'
import { type JsonContext, substitute } from './json-context.ts'
import { matchesText } from './match-pattern.ts'

/** Whether the conditions are met, and their messages. */
interface ConditionsOutcome {
  readonly isMet: boolean
  readonly message: string
}

/**
 * Evaluates the conditions of a rule: `any` and `all`, or a list that must be met entirely (pkg/engine/variables of Kyverno). Throws
 * RuleError if a condition cannot be evaluated.
 */
export function evaluateConditions(conditions: ContextValue | undefined, context: JsonContext): ConditionsOutcome {
  if (conditions === undefined || conditions === null) return { isMet: true, message: '' }
  if (isList(conditions)) return everyOf(conditions, context, ';')
  if (!isFields(conditions)) throw new RuleError('conditions are neither a list nor any and all')
  const [any, all] = [conditions.get('any') ?? null, conditions.get('all') ?? null]
  const first = isList(any) ? someOf(any, context) : { isMet: true, message: '' }
  const second = isList(all) ? everyOf(all, context, '; ') : { isMet: true, message: '' }
  const isMet = first.isMet && second.isMet
  const messages = [first, second].filter(one => one.isMet === isMet).map(({ message }) => message)
  return { isMet, message: joined(messages, '; ') }
}

function someOf(conditions: readonly ContextValue[], context: JsonContext): ConditionsOutcome {
  const failed: string[] = []
  for (const condition of conditions) {
    if (isMet(condition, context)) return { isMet: true, message: messageOf(condition) }
    failed.push(messageOf(condition))
  }
  return { isMet: false, message: joined(failed, '; ') }
}

function everyOf(conditions: readonly ContextValue[], context: JsonContext, separator: string): ConditionsOutcome {
  const messages: string[] = []
  for (const condition of conditions) {
    if (!isMet(condition, context)) return { isMet: false, message: messageOf(condition) }
    messages.push(messageOf(condition))
  }
  return { isMet: true, message: joined(messages, separator) }
}

function isMet(condition: ContextValue, context: JsonContext): boolean {
  if (!isFields(condition)) throw new RuleError('a condition has no key')
  const of = (name: string) => substitute((condition as Fields).get(name) ?? null, context)
  return isConditionMet(textAt(condition, ['operator']), of('key'), of('value'))
}

const messageOf = (condition: ContextValue) => textAt(condition, ['message'])

export const joined = (texts: readonly string[], separator: string) => texts.filter(text => text !== '').join(separator)

type Comparison = (sign: number) => boolean

const ORDERS: Readonly<Record<string, Comparison>> = {
  GreaterThanOrEquals: sign => sign >= 0,
  GreaterThan: sign => sign > 0,
  LessThanOrEquals: sign => sign <= 0,
  LessThan: sign => sign < 0,
}
const DURATION = 'Duration'

/** Whether a condition is met, by its operator (pkg/engine/variables/operator of Kyverno). */
function isConditionMet(operator: string, key: ContextValue, value: ContextValue): boolean {
  const [left, right] = [known(key), known(value)]
  const lower = operator.toLowerCase()
  if (lower === 'equal' || lower === 'equals') return isEqual(left, right)
  // Kyverno treats a null key as not unequal to any value
  if (lower === 'notequal' || lower === 'notequals') return left !== null && !isEqual(left, right)
  const member = Object.hasOwn(MEMBERSHIP, lower) ? MEMBERSHIP[lower] : undefined
  if (member) return member(left, right)
  const isDuration = lower.startsWith(DURATION.toLowerCase())
  const name = isDuration ? operator.slice(DURATION.length) : operator
  const known_ = Object.keys(ORDERS).find(one => one.toLowerCase() === name.toLowerCase())
  if (!known_) throw new RuleError(`the operator ${JSON.stringify(operator)} is not known`)
  // Kyverno recognizes an operator in any case, but only compares with the exact spelling
  if (known_ !== name || (isDuration && !operator.startsWith(DURATION))) return false
  return isDuration ? byDuration(left, right, ORDERS[name]!) : byOrder(left, right, ORDERS[name]!)
}

function isEqual(key: ContextValue, value: ContextValue): boolean {
  if (typeof key === 'boolean') return key === value
  if (typeof key === 'number') return (typeof value === 'string' ? readFloat(value) : value) === key
  if (isList(key)) return isList(value) && isSame(key, value)
  if (isFields(key)) return isFields(value) && isSame(key, value)
  if (typeof key !== 'string') return false
  const durations = durationsOf(key, value)
  if (durations) return durations[0] === durations[1]
  if (typeof value !== 'string') return false
  const quantity = parseQuantity(key)
  return quantity === undefined ? matchesWildcard(value, key) : parseQuantity(value) === quantity
}

/** Both values in nanoseconds if at least one is a duration; plain numbers are seconds. */
function durationsOf(key: ContextValue, value: ContextValue): readonly [bigint, bigint] | undefined {
  const [left, right] = [writtenDuration(key), writtenDuration(value)]
  if (left === undefined && right === undefined) return undefined
  const [a, b] = [left ?? seconds(key), right ?? seconds(value)]
  return a === undefined || b === undefined ? undefined : [a, b]
}

const writtenDuration = (value: ContextValue) =>
  typeof value === 'string' && value !== '0' ? readGoDuration(value) : undefined

const seconds = (value: ContextValue) =>
  typeof value === 'number' && Number.isFinite(value) ? BigInt(Math.trunc(value)) * 1_000_000_000n : undefined

const signOf = <T extends number | bigint>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0)

function byOrder(key: ContextValue, value: ContextValue, isMet: Comparison): boolean {
  if (typeof key !== 'string' && typeof key !== 'number') return false
  const durations = durationsOf(key, value)
  if (durations) return isMet(signOf(...durations))
  if (typeof key === 'number') return byNumber(key, value, isMet)
  const [left, right] = [parseQuantity(key), typeof value === 'string' ? parseQuantity(value) : undefined]
  if (left !== undefined && right !== undefined) return isMet(signOf(left, right))
  const number = readFloat(key)
  if (number !== undefined) return byNumber(number, value, isMet)
  const version = readVersion(key)
  const other = typeof value === 'string' ? readVersion(value) : undefined
  return version !== undefined && other !== undefined && isMet(Number(orderOfVersions(version, other)))
}

function byNumber(key: number, value: ContextValue, isMet: Comparison): boolean {
  const other = typeof value === 'string' ? readFloat(value) : value
  return typeof other === 'number' && isMet(signOf(key, other))
}

function byDuration(key: ContextValue, value: ContextValue, isMet: Comparison): boolean {
  const [left, right] = [key, value].map(one => (typeof one === 'string' ? readGoDuration(one) : seconds(one)))
  return left !== undefined && right !== undefined && isMet(signOf(left, right))
}

type Member = (key: ContextValue, value: ContextValue) => boolean

/** Undefined: the value's type does not support lookup, so no operator is met. */
type Found = boolean | undefined

/** Operators that look up a key, or each item of it, in a value; by lower-case name. */
const MEMBERSHIP: Readonly<Record<string, Member>> = {
  in: (key, value) =>
    asked(
      key,
      one => isIn(one, value),
      all => listIn(all, value, false),
    ),
  notin: (key, value) =>
    asked(
      key,
      one => negated(isIn(one, value)),
      all => listIn(all, value, true),
    ),
  anyin: (key, value) =>
    asked(
      key,
      one => keyIn(one, value),
      all => anyOf(all, value),
    ),
  anynotin: (key, value) =>
    asked(
      key,
      one => negated(keyIn(one, value)),
      all => anyNotOf(all, value),
    ),
  allin: (key, value) =>
    asked(
      key,
      one => keyIn(one, value),
      all => allOf(all, value),
    ),
  allnotin: (key, value) =>
    asked(
      key,
      one => negated(keyIn(one, value)),
      all => noneOf(all, value),
    ),
}

const negated = (found: Found): Found => (found === undefined ? undefined : !found)

function asked(
  key: ContextValue,
  ofOne: (key: string) => Found,
  ofAll: (keys: readonly ContextValue[]) => Found,
): boolean {
  const plain = known(key)
  if (isList(plain)) return ofAll(plain) ?? false
  const isScalar = typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean'
  return isScalar && (ofOne(goText(plain)) ?? false)
}

const isAlike = (a: string, b: string) => matchesWildcard(a, b) || matchesWildcard(b, a)
const RANGE = /^[-|+]?\d+(?:\.\d+)?[A-Za-z]*-[-|+]?\d+(?:\.\d+)?[A-Za-z]*$/
const isRange = (text: string) => RANGE.test(text)

function isIn(key: string, value: ContextValue): Found {
  if (isList(value)) return value.some(one => isAlike(goText(one), key))
  if (typeof value !== 'string') return undefined
  return matchesWildcard(value, key) || textsIn(value)?.includes(key)
}

function keyIn(key: string, value: ContextValue): Found {
  if (isList(value)) return value.some(one => isAlike(goText(one), key))
  if (typeof value !== 'string') return undefined
  if (matchesWildcard(value, key)) return true
  if (isRange(value)) return matchesText(value, key)
  const texts = isJson(value) ? textsIn(value) : [value]
  return texts?.includes(key)
}

/** `In` and `NotIn` for a list: compares its texts exactly. */
function listIn(keys: readonly ContextValue[], value: ContextValue, isNot: boolean): Found {
  const texts = keys.map(key => {
    const text = known(key)
    if (typeof text !== 'string') throw new RuleError('In and NotIn compare strings only')
    return text
  })
  if (typeof value === 'string' && texts.length === 1 && texts[0] === value) return true
  const all = isList(value) ? stringsOf(value) : typeof value === 'string' ? textsIn(value) : undefined
  if (!all) return undefined
  const set = new Set(all)
  return texts.every(text => set.has(text)) !== isNot
}

function stringsOf(list: readonly ContextValue[]): readonly string[] | undefined {
  const texts = list.map(known)
  return texts.every(text => typeof text === 'string') ? (texts as string[]) : undefined
}

/** The texts to look in: items of a list, of JSON, or the value itself. `range`: the value is a range. */
function offered(value: ContextValue, scalars: boolean): readonly string[] | 'range' | undefined {
  if (isList(value)) return value.map(goText)
  if (typeof value === 'string') return isRange(value) ? 'range' : isJson(value) ? textsIn(value) : [value]
  return scalars && value !== null && typeof value !== 'object' ? [goText(value)] : undefined
}

const isItself = (keys: readonly string[], value: ContextValue) => keys.length === 1 && keys[0] === value

function anyOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return true
  const texts = offered(value, true)
  if (texts === 'range') return keys.some(key => matchesText(value as string, key))
  return texts && keys.some(key => texts.some(text => isAlike(key, text)))
}

function anyNotOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return false
  const texts = offered(value, true)
  if (texts === 'range') return keys.some(key => matchesText((value as string).replace('-', '!-'), key))
  return texts && keys.some(key => !texts.some(text => isAlike(key, text)))
}

function allOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return true
  const texts = offered(value, false)
  if (texts === 'range') return keys.every(key => matchesText(value as string, key))
  return texts && keys.every(key => texts.some(text => isAlike(key, text)))
}

function noneOf(list: readonly ContextValue[], value: ContextValue): Found {
  const keys = list.map(goText)
  if (isItself(keys, value)) return false
  const texts = offered(value, false)
  if (texts === 'range') return !keys.some(key => matchesText(value as string, key))
  return texts && !keys.some(key => texts.some(text => isAlike(key, text)))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A list of texts written as JSON. */
function textsIn(text: string): readonly string[] | undefined {
  try {
    const read: unknown = JSON.parse(text)
    if (read === null) return []
    if (!Array.isArray(read)) return undefined
    const texts = read.map(one => one ?? '')
    return texts.every(one => typeof one === 'string') ? texts : undefined
  } catch {
    return undefined
  }
}
