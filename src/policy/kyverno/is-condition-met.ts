import { parseQuantity } from '../../cel/kubernetes/parse-quantity.ts'
import { orderOfVersions, readVersion } from '../../cel/kubernetes/semver.ts'
import { readGoDuration } from '../../cel/times.ts'
import { readFloat } from './jmespath/object-functions.ts'
import { type ContextValue, isFields, isList, isSame, known, RuleError } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { MEMBERSHIP } from './membership.ts'

type Comparison = (sign: number) => boolean

const ORDERS: Readonly<Record<string, Comparison>> = {
  GreaterThanOrEquals: sign => sign >= 0,
  GreaterThan: sign => sign > 0,
  LessThanOrEquals: sign => sign <= 0,
  LessThan: sign => sign < 0,
}
const DURATION = 'Duration'

/** Whether a condition is met, by its operator (pkg/engine/variables/operator of Kyverno). */
export function isConditionMet(operator: string, key: ContextValue, value: ContextValue): boolean {
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
