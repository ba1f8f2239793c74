import { readGoDuration } from '../../expr/arithmetic.ts'
import { parseQuantity } from '../../expr/libraries/quantity.ts'
import { readFloat } from '../jmespath/object-functions.ts'
import {
  type ContextValue,
  type Fields,
  isFields,
  isList,
  known,
  matchesWildcard,
  NotEvaluatedError,
} from '../jmespath/values.ts'

/** The result of matching a pattern; `path` is the field's path, and `error` means that Kyverno cannot name the field. */
export type Matching =
  | { readonly status: 'pass' | 'skip' }
  | { readonly status: 'fail' | 'error'; readonly path: readonly string[] }

/** Why a part does not match. `isGathered`: it combines several failures from a map or list below. */
interface Miss {
  readonly kind: 'skip' | 'negation' | 'other'
  readonly path: readonly string[]
  readonly isGathered?: true
}

const MAX_DEPTH = 60

/**
 * Matches an object against a Kyverno pattern (pkg/engine/validate and pkg/engine/anchor). In every map, anchors come first in key
 * order, then keys with anchors below them, then the other fields.
 */
export function matchPattern(pattern: ContextValue, value: ContextValue): Matching {
  const anchors = new Anchors()
  const miss = matchElement(pattern, value, [], anchors)
  if (!miss) return { status: 'pass' }
  if (miss.kind === 'skip') return { status: 'skip' }
  return { status: miss.kind === 'other' && anchors.areMissing() ? 'error' : 'fail', path: miss.path }
}

type Matched = Miss | undefined

function matchElement(pattern: ContextValue, value: ContextValue, path: readonly string[], anchors: Anchors): Matched {
  if (path.length > MAX_DEPTH) throw new NotEvaluatedError(`a pattern of more than ${MAX_DEPTH} levels`)
  const [wanted, given] = [known(pattern), known(value)]
  if (isFields(wanted)) {
    if (!isFields(given)) return { kind: 'other', path }
    anchors.see(wanted, given)
    return matchMap(expandMetadata(wanted, given), given, path, anchors)
  }
  if (isList(wanted)) return isList(given) ? matchList(wanted, given, path, anchors) : { kind: 'other', path }
  if (!isList(given)) return matchesValue(wanted, given) ? undefined : { kind: 'other', path }
  const index = given.findIndex(item => !matchesValue(wanted, item))
  return index < 0 ? undefined : { kind: 'other', path: [...path, String(index)] }
}

function matchMap(pattern: Fields, given: Fields, path: readonly string[], anchors: Anchors): Matched {
  const keys = [...pattern.keys()].sort()
  const isFirst = (key: string) => ['', '^', '=', 'X'].includes(readAnchor(key)?.modifier ?? 'none')
  const skipped: Miss[] = []
  let applied = 0
  for (const key of keys.filter(isFirst)) {
    const miss = matchAnchor(readAnchor(key)!, pattern.get(key)!, given, path, anchors)
    if (!miss) applied++
    else if (miss.kind === 'skip') skipped.push(miss)
    else if (!skipped.some(one => !one.isGathered)) return miss
  }
  if (skipped.length > 0 && (applied === 0 || skipped.some(one => !one.isGathered))) {
    return { kind: 'skip', path, isGathered: true }
  }
  const others = keys.filter(key => !isFirst(key))
  const nested = others.filter(key => readAnchor(key)?.modifier === '<' || hasAnchors(pattern.get(key)!))
  for (const key of [...nested.reverse(), ...others.filter(one => !nested.includes(one))]) {
    const anchor = readAnchor(key)
    const miss =
      anchor?.modifier === '<'
        ? matchAnchor(anchor, pattern.get(key)!, given, path, anchors)
        : matchField(key, pattern.get(key)!, given, path, anchors)
    if (miss) return miss
  }
  return undefined
}

function matchField(
  key: string,
  wanted: ContextValue,
  given: Fields,
  path: readonly string[],
  anchors: Anchors,
): Matched {
  const value = given.get(key) ?? null
  const here = [...path, key]
  if (wanted === '*') return known(value) === null ? { kind: 'other', path: here } : undefined
  return matchElement(wanted, value, here, anchors)
}

function matchAnchor(
  { modifier, key }: Anchor,
  wanted: ContextValue,
  given: Fields,
  path: readonly string[],
  anchors: Anchors,
): Matched {
  const here = [...path, key]
  const value = given.get(key)
  if (value === undefined) return modifier === '' ? { kind: 'skip', path: here } : undefined
  if (modifier === 'X') return { kind: 'negation', path: here }
  if (modifier === '^') return matchSome(wanted, known(value), here, anchors)
  const miss = matchElement(wanted, value, here, anchors)
  // any failure below a condition anchor means that the condition is not met
  return miss && modifier !== '=' ? { kind: 'skip', path: miss.path } : miss
}

/** Every pattern in the list must match at least one item. */
function matchSome(wanted: ContextValue, given: ContextValue, path: readonly string[], anchors: Anchors): Matched {
  if (!isList(given) || !isList(wanted)) return { kind: 'other', path }
  for (const pattern of wanted) {
    if (!isFields(pattern)) return { kind: 'other', path }
    const isFound = given.some((item, index) => !matchElement(pattern, item, [...path, String(index)], anchors))
    if (!isFound) return { kind: 'other', path }
  }
  return undefined
}

function matchList(
  patterns: readonly ContextValue[],
  items: readonly ContextValue[],
  path: readonly string[],
  anchors: Anchors,
): Matched {
  const [first] = patterns
  if (first === undefined) return { kind: 'other', path }
  if (!isFields(first) && !isList(first)) return matchElement(first, items, path, anchors)
  const pairs = isFields(first)
    ? items.map(item => [first, item] as const)
    : patterns.map((one, index) => [one, items[index]] as const)
  let [skipped, applied] = [0, 0]
  for (const [index, [pattern, item]] of pairs.entries()) {
    if (item === undefined) return { kind: 'other', path }
    const miss = matchElement(pattern, item, [...path, String(index)], anchors)
    if (!miss) applied++
    else if (miss.kind === 'skip') skipped++
    else return miss
  }
  return applied === 0 && skipped > 0 ? { kind: 'skip', path, isGathered: true } : undefined
}

function hasAnchors(pattern: ContextValue): boolean {
  if (isList(pattern)) return pattern.some(hasAnchors)
  return (
    isFields(pattern) &&
    [...pattern].some(([key, value]) => (readAnchor(key)?.modifier ?? '+') !== '+' || hasAnchors(value))
  )
}

/** A parenthesized key of a pattern and its prefix; the prefix '' marks a condition. */
interface Anchor {
  readonly modifier: '' | '=' | '^' | 'X' | '<' | '+'
  readonly key: string
}

function readAnchor(written: string): Anchor | undefined {
  if (!written.endsWith(')')) return undefined
  const [, modifier, key] = /^([+<=X^]?)\((.+)\)$/s.exec(written) ?? []
  return key === undefined ? undefined : { modifier: modifier as Anchor['modifier'], key }
}

/** Records which anchors of a pattern exist in the object. If one never does, Kyverno reports a failure as an error. */
class Anchors {
  readonly #seen = new Map<string, boolean>()

  see(pattern: Fields, given: Fields): void {
    for (const written of pattern.keys()) {
      const anchor = readAnchor(written)
      if (!anchor || !['', '^', 'X'].includes(anchor.modifier)) continue
      if (this.#seen.get(written) !== true) this.#seen.set(written, given.has(anchor.key))
    }
  }

  areMissing(): boolean {
    return [...this.#seen].some(([written, isThere]) => !isThere && readAnchor(written)?.modifier !== 'X')
  }
}

/**
 * Replaces wildcards in the label and annotation keys of a pattern by the matching keys of the object
 * (pkg/engine/wildcards of Kyverno, which omits values that are not text).
 */
function expandMetadata(pattern: Fields, given: Fields): Fields {
  const [metadataKey, metadata] = entryOf(pattern, 'metadata')
  const own = given.get('metadata')
  if (metadataKey === undefined || !isFields(metadata) || !isFields(own)) return pattern
  const made = new Map(metadata)
  for (const tag of ['labels', 'annotations']) {
    const [key, wanted] = entryOf(metadata, tag)
    const there = own.get(tag)
    if (key !== undefined && isFields(wanted) && isFields(there)) made.set(key, expanded(wanted, there))
  }
  return new Map([...pattern, [metadataKey, made]])
}

function entryOf(fields: Fields, name: string): readonly [string, ContextValue] | readonly [undefined, undefined] {
  for (const [written, value] of fields) {
    if (written === name || readAnchor(written)?.key === name) return [written, value]
  }
  return [undefined, undefined]
}

function expanded(wanted: Fields, there: Fields): Fields {
  const made = new Map<string, ContextValue>()
  for (const [written, value] of wanted) {
    if (typeof value !== 'string') continue
    const anchor = readAnchor(written)
    const name = anchor?.key ?? written
    const found = /[*?]/.test(written) ? keyLike(name, value, there) : name
    made.set(anchor ? `${anchor.modifier}(${found})` : found, value)
  }
  return made
}

/** Kyverno picks an arbitrary matching key. If the choice affects the result, the result is unknown. */
function keyLike(name: string, wanted: string, there: Fields): string {
  const keys = [...there.keys()].filter(key => matchesWildcard(name, key))
  const [first] = keys
  if (first === undefined) return name
  const answers = keys.length > 1 ? keys.map(key => matchesValue(wanted, there.get(key)!)) : []
  if (answers.includes(true) && answers.includes(false)) {
    throw new NotEvaluatedError(`several keys are like ${name}, and Kyverno compares one of them`)
  }
  return first
}

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
