import type { MapNode, Node, Path } from '../../kube/node.ts'
import { matchesScalar } from './matches-scalar.ts'
import { matchesWildcard } from './wildcard.ts'

/** `skip`: the pattern does not speak about the object; `unclear`: why it cannot be compared here. */
export type Matching = 'pass' | 'skip' | { readonly failed: Path } | { readonly unclear: string }

const ANCHOR = /^(|=|X|<|\^|\+)\((.+)\)$/
const MAX_DEPTH = 60

/**
 * Compares an object with a pattern of Kyverno (github.com/kyverno/kyverno, pkg/engine/validate and pkg/engine/anchor): anchors
 * first, in the order of their keys, then the other fields.
 */
export function matchObject(pattern: Node, value: Node | undefined, path: Path = []): Matching {
  if (path.length > MAX_DEPTH) return { unclear: `the pattern is nested more than ${MAX_DEPTH} levels deep` }
  if (pattern.type === 'map') return value?.type === 'map' ? matchMap(pattern, value, path) : { failed: path }
  if (pattern.type === 'list')
    return value?.type === 'list' ? matchList(pattern.items, value.items, path) : { failed: path }
  if (value?.type === 'list')
    return every(value.items.map((item, index) => () => scalar(pattern, item, [...path, index])))
  return scalar(pattern, value, path)
}

function scalar(pattern: Node, value: Node | undefined, path: Path): Matching {
  const matches = matchesScalar(pattern, value)
  if (typeof matches === 'string') return { unclear: matches }
  return matches ? 'pass' : { failed: path }
}

function every(tests: readonly (() => Matching)[]): Matching {
  for (const test of tests) {
    const outcome = test()
    if (outcome !== 'pass') return outcome
  }
  return 'pass'
}

function matchMap(pattern: MapNode, value: MapNode, path: Path): Matching {
  const entries = [...pattern.fields].map(([written, { value: wanted }]) => {
    const [, anchor, inner] = ANCHOR.exec(written) ?? []
    const name = inner ?? written
    const key = isOfMetadata(path) && /[*?]/.test(name) ? keyLike(name, value) : name
    return { written, anchor, key, wanted, given: value.fields.get(key)?.value }
  })
  const anchors = entries.filter(({ anchor }) => anchor !== undefined).sort((a, b) => (a.written < b.written ? -1 : 1))
  const others = entries.filter(({ anchor }) => anchor === undefined).sort((a, b) => (a.written < b.written ? -1 : 1))
  // fields with anchors below them come first
  const nested = [...others.filter(one => hasAnchor(one.wanted)), ...others.filter(one => !hasAnchor(one.wanted))]
  return every(
    [...anchors, ...nested].map(one => () => matchField(one.anchor, one.wanted, one.given, [...path, one.key])),
  )
}

function matchField(anchor: string | undefined, wanted: Node, given: Node | undefined, path: Path): Matching {
  if (anchor === 'X') return given ? { failed: path } : 'pass'
  if (anchor === '^') return exists(wanted, given, path)
  if (anchor === '=' || anchor === '<' || anchor === '+') {
    if (!given) return 'pass'
    const outcome = matchAny(wanted, given, path)
    return anchor === '<' && isFailure(outcome) ? 'skip' : outcome
  }
  if (anchor === '') {
    const outcome = given ? matchAny(wanted, given, path) : 'skip'
    return isFailure(outcome) ? 'skip' : outcome
  }
  return matchAny(wanted, given, path)
}

/** `*` is anything that is there. */
function matchAny(wanted: Node, given: Node | undefined, path: Path): Matching {
  if (wanted.type !== 'scalar' || wanted.value !== '*') return matchObject(wanted, given, path)
  return given && !(given.type === 'scalar' && given.value === null) ? 'pass' : { failed: path }
}

const isFailure = (outcome: Matching) => typeof outcome === 'object' && 'failed' in outcome

/** At least one item matches. */
function exists(wanted: Node, given: Node | undefined, path: Path): Matching {
  if (!given) return 'pass'
  const [pattern] = wanted.type === 'list' ? wanted.items : []
  if (given.type !== 'list' || !pattern) return { failed: path }
  const outcomes = given.items.map((item, index) => matchObject(pattern, item, [...path, index]))
  return (
    outcomes.find(one => one === 'pass') ??
    outcomes.find(one => typeof one === 'object' && 'unclear' in one) ?? { failed: path }
  )
}

function matchList(patterns: readonly Node[], items: readonly Node[], path: Path): Matching {
  const [first] = patterns
  if (!first) return 'pass'
  if (first.type === 'scalar') return every(items.map((item, index) => () => scalar(first, item, [...path, index])))
  if (first.type === 'list') {
    if (items.length < patterns.length) return { failed: path }
    return every(patterns.map((one, index) => () => matchObject(one, items[index], [...path, index])))
  }
  const outcomes = items.map((item, index) => matchObject(first, item, [...path, index]))
  const other = outcomes.find(one => one !== 'pass' && one !== 'skip')
  if (other) return other
  return outcomes.length > 0 && outcomes.every(one => one === 'skip') ? 'skip' : 'pass'
}

const isOfMetadata = (path: Path) =>
  path.length > 1 && path.at(-2) === 'metadata' && (path.at(-1) === 'labels' || path.at(-1) === 'annotations')

const keyLike = (name: string, value: MapNode) =>
  [...value.fields.keys()].find(key => matchesWildcard(name, key)) ?? name

function hasAnchor(node: Node): boolean {
  if (node.type === 'list') return node.items.some(hasAnchor)
  return (
    node.type === 'map' && [...node.fields].some(([key, { value }]) => /^[<=X^+]?\(.+\)$/.test(key) || hasAnchor(value))
  )
}
