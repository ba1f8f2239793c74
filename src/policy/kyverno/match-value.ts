import { parseQuantity } from '../../cel/kubernetes/parse-quantity.ts'
import { readGoDuration } from '../../cel/times.ts'
import { readFloat } from './jmespath/object-functions.ts'
import { type ContextValue, isFields, isList, known, NotEvaluatedError } from './jmespath/values.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'

/**
 * Whether a value matches a scalar pattern of Kyverno (pkg/engine/pattern). Handles `|`, `&`, comparisons and ranges, then
 * durations, quantities and wildcards, in this order.
 */
export function matchesValue(pattern: ContextValue, value: ContextValue): boolean {
  const [wanted, given] = [known(pattern), known(value)]
  if (wanted === null) return given === null || given === 0 || given === '' || given === false
  if (typeof wanted === 'boolean') return given === wanted
  if (typeof wanted === 'number') return (typeof given === 'string' ? readFloat(given) : given) === wanted
  if (typeof wanted === 'string') return matchesText(wanted, given)
  return isFields(wanted) && isFields(given)
}

/** The same for a text pattern. */
export function matchesText(pattern: string, given: ContextValue): boolean {
  if (given === pattern) return true
  return pattern.split('|').some(one => one.split('&').every(condition => isMet(trimmed(condition), given)))
}

/** Removes surrounding spaces; other white space is significant. */
const trimmed = (text: string) => text.replace(/^ +| +$/g, '')

const RANGE = /^([-|+]?\d+(?:\.\d+)?[A-Za-z]*)(!?)-([-|+]?\d+(?:\.\d+)?[A-Za-z]*)$/

function isMet(pattern: string, given: ContextValue): boolean {
  const [, operator = '', operand = pattern] = pattern.length < 2 ? [] : (/^(>=|<=|>|<|!)(.*)$/s.exec(pattern) ?? [])
  if (operator !== '') return isMetBy(operator, operand.trim(), given)
  const [, from, not, to] = RANGE.exec(pattern) ?? []
  if (from === undefined || to === undefined) return isMetBy('', operand.trim(), given)
  if (not === '!') return isMetBy('<', from, given) || isMetBy('>', to, given)
  return isMetBy('>=', from, given) && isMetBy('<=', to, given)
}

const SIGNS: Readonly<Record<string, (sign: number) => boolean>> = {
  '': sign => sign === 0,
  '!': sign => sign !== 0,
  '>': sign => sign > 0,
  '<': sign => sign < 0,
  '>=': sign => sign >= 0,
  '<=': sign => sign <= 0,
}

function isMetBy(operator: string, operand: string, given: ContextValue): boolean {
  const sign = ordered(given, operand)
  if (sign !== undefined) return SIGNS[operator]!(sign)
  if (operator !== '' && operator !== '!') return false
  if (given === null || isList(given) || isFields(given)) return false
  return likeText(operand, given) === (operator === '')
}

/** Kyverno writes an integer as such in its webhook, and as a float where it reads the object from its context, as in a loop. */
function likeText(operand: string, given: ContextValue): boolean {
  const isLike = matchesWildcard(operand, String(known(given)))
  if (typeof given !== 'number' || isLike === matchesWildcard(operand, floatText(given))) return isLike
  throw new NotEvaluatedError(`a number is compared with ${operand} as text, and Kyverno writes it in two ways`)
}

/** As Go formats a float with `E`: at least two digits of exponent. */
const floatText = (number: number) =>
  number
    .toExponential()
    .toUpperCase()
    .replace(/E([-+])(\d)$/, 'E$10$2')

/** Compares durations or quantities: negative, zero or positive; undefined if they are neither. An absent value counts as zero. */
function ordered(given: ContextValue, operand: string): number | undefined {
  const plain = given === null ? '0' : typeof given === 'number' ? numberText(given) : given
  if (typeof plain !== 'string') return undefined
  for (const read of [readGoDuration, parseQuantity]) {
    const b = read(operand)
    const a = b === undefined ? undefined : read(plain)
    if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : 0
  }
  return undefined
}

const numberText = (number: number) => (Number.isInteger(number) ? String(number) : number.toFixed(6))
