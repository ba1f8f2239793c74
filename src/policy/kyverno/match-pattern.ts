import { type Anchor, Anchors, readAnchor } from './anchors.ts'
import { expandMetadata } from './expand-metadata.ts'
import { type ContextValue, type Fields, isFields, isList, known, NotEvaluatedError } from './jmespath/values.ts'
import { matchesValue } from './match-value.ts'

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
