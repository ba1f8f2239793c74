import type { MapNode, Node, Path } from '../../kube/node.ts'
import { matchesValue } from './pattern-value.ts'

/** Decides a scalar of the pattern at a path of the object, where someone knows it better; undefined: leave it. */
export type Leaf = (pattern: Node, value: Node | undefined, path: Path) => boolean | undefined

/** What does not match, by path; `skip`: the policy does not speak about the object; undefined: it cannot be decided. */
export type PatternOutcome = readonly Path[] | 'skip' | undefined

const ANCHOR = /^(|=|X|<|\^)\((.+)\)$/
const MAX_DEPTH = 30

/**
 * Compares an object with a `validate.pattern` of Kyverno (pkg/engine/validate and pkg/engine/anchor): conditional
 * anchors first, then the rest; `=(key)` only where the key is there, `X(key)` never, a list of one map for every item.
 */
export function matchPattern(pattern: Node, value: Node | undefined, leaf: Leaf, path: Path = []): PatternOutcome {
  if (path.length > MAX_DEPTH) return undefined
  if (pattern.type === 'map') return value?.type === 'map' ? matchMap(pattern, value, leaf, path) : [path]
  if (pattern.type === 'list') return matchList(pattern.items, value, leaf, path)
  const matches = leaf(pattern, value, path) ?? matchesValue(pattern, value)
  if (matches === undefined) return undefined
  return matches ? [] : [path]
}

function matchMap(pattern: MapNode, value: MapNode, leaf: Leaf, path: Path): PatternOutcome {
  const entries = [...pattern.fields].map(([written, field]) => {
    const [, anchor, key] = ANCHOR.exec(written) ?? [undefined, undefined, written]
    return { anchor, key: key!, wanted: field.value, given: value.fields.get(key!)?.value }
  })
  const failed: Path[] = []
  const conditions = entries.filter(({ anchor }) => anchor === '' || anchor === '<')
  for (const { key, wanted, given } of conditions) {
    const outcome = given && matchPattern(wanted, given, leaf, [...path, key])
    if (given && outcome === undefined) return undefined
    if (!outcome || outcome === 'skip' || outcome.length > 0) return 'skip'
  }
  let unknown = false
  for (const { anchor, key, wanted, given } of entries.filter(one => !conditions.includes(one))) {
    const here = [...path, key]
    if (anchor === '^') unknown = true
    else if (anchor === 'X') {
      if (given) failed.push(here)
    } else if (given === undefined && anchor === '=') continue
    else if (isAny(wanted)) {
      if (!given || (given.type === 'scalar' && given.value === null)) failed.push(here)
    } else {
      const outcome = matchPattern(wanted, given, leaf, here)
      if (outcome === 'skip') return 'skip'
      if (outcome) failed.push(...outcome)
      else unknown = true
    }
  }
  return failed.length === 0 && unknown ? undefined : failed
}

function matchList(patterns: readonly Node[], value: Node | undefined, leaf: Leaf, path: Path): PatternOutcome {
  const [first, second] = patterns
  if (value?.type !== 'list') return [path]
  if (first?.type !== 'map' || second) return undefined
  const outcomes = value.items.map((item, index) => matchPattern(first, item, leaf, [...path, index]))
  if (outcomes.length > 0 && outcomes.every(one => one === 'skip')) return 'skip'
  const failed = outcomes.flatMap(one => (one === 'skip' || one === undefined ? [] : one))
  return failed.length === 0 && outcomes.includes(undefined) ? undefined : failed
}

const isAny = (node: Node) => node.type === 'scalar' && node.value === '*'
