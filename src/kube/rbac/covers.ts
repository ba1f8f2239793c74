import type { PolicyRule } from './policy-rule.ts'
import { isPrefix } from './rule-allows.ts'

/** Refusals list no more parts than these. */
const MOST = 1000

/**
 * The parts of `servant` that no rule of `owner` covers by itself, as one rule for each resource (and name) with the verbs
 * that are missing; empty: all is covered. A star in the servant needs a star in the owner, a rule without names an owner's
 * rule without names (Covers of k8s.io/component-helpers/auth/rbac/validation, then CompactRules). At most 1,000 parts.
 */
export function uncovered(owner: readonly PolicyRule[], servant: readonly PolicyRule[]): PolicyRule[] {
  const held = new Held(owner)
  const missing: PolicyRule[] = []
  for (const rule of servant) {
    for (const one of held.missing(rule)) {
      missing.push(one)
      if (missing.length === MOST) return compact(missing)
    }
  }
  return compact(missing)
}

/** Whether the rules of `owner` cover all of `servant`. */
export function covers(owner: readonly PolicyRule[], servant: readonly PolicyRule[]): boolean {
  return uncovered(owner, servant).length === 0
}

/** A set of the owner's rules, a bit for each. */
type Mask = bigint

/** The values of a rule, each with the owner's rules that have it, and the sets that occur. */
interface Marked {
  readonly items: readonly { readonly value: string; readonly mask: Mask }[]
  readonly masks: ReadonlySet<Mask>
}

/**
 * For each value of a rule the owner's rules that have it, so that one combination of values is covered where their sets
 * meet. Values with the same set count as one: a rule of many values costs what it is long, not the product of its lists.
 */
class Held {
  readonly #verbs: Values
  readonly #groups: Values
  readonly #resources: Values
  readonly #names: Values
  readonly #urls: readonly { readonly url: string; readonly bit: Mask }[]
  /** Rules without resourceNames. */
  readonly #unnamed: Mask

  constructor(owner: readonly PolicyRule[]) {
    this.#verbs = new Values(owner.map(rule => rule.verbs))
    this.#groups = new Values(owner.map(rule => rule.apiGroups))
    this.#resources = new Values(owner.map(rule => rule.resources))
    this.#names = new Values(owner.map(rule => rule.resourceNames))
    this.#urls = owner.flatMap((rule, at) => rule.nonResourceURLs.map(url => ({ url, bit: 1n << BigInt(at) })))
    this.#unnamed = owner.reduce(
      (mask, rule, at) => (rule.resourceNames.length > 0 ? mask : mask | (1n << BigInt(at))),
      0n,
    )
  }

  *missing(rule: PolicyRule): Generator<PolicyRule> {
    const verbs = mark(rule.verbs, verb => this.#verbs.star | this.#verbs.of(verb))
    const groups = mark(rule.apiGroups, group => this.#groups.star | this.#groups.of(group))
    const resources = mark(rule.resources, resource => this.#resource(resource))
    const named = mark(rule.resourceNames, name => this.#unnamed | this.#names.of(name))
    const names = named.items.length > 0 ? named : mark([''], () => this.#unnamed)
    for (const [group = '', resource = '', verb = '', name = ''] of unmet([groups, resources, verbs, names])) {
      const resourceNames = named.items.length > 0 ? [name] : []
      yield { verbs: [verb], apiGroups: [group], resources: [resource], resourceNames, nonResourceURLs: [] }
    }
    const urls = mark(rule.nonResourceURLs, url => this.#unnamed & this.#url(url))
    for (const [url = '', verb = ''] of unmet([urls, verbs])) {
      yield { verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] }
    }
  }

  #resource(resource: string): Mask {
    const slash = resource.indexOf('/')
    const below = slash < 0 ? 0n : this.#resources.of(`*${resource.slice(slash)}`)
    return this.#resources.star | this.#resources.of(resource) | below
  }

  #url(url: string): Mask {
    return this.#urls.reduce((mask, own) => (own.url === url || isPrefix(own.url, url) ? mask | own.bit : mask), 0n)
  }
}

class Values {
  readonly star: Mask
  readonly #masks = new Map<string, Mask>()

  constructor(lists: readonly (readonly string[])[]) {
    for (const [at, list] of lists.entries()) {
      for (const value of list) this.#masks.set(value, this.of(value) | (1n << BigInt(at)))
    }
    this.star = this.of('*')
  }

  of(value: string): Mask {
    return this.#masks.get(value) ?? 0n
  }
}

function mark(values: readonly string[], maskOf: (value: string) => Mask): Marked {
  const items = values.map(value => ({ value, mask: maskOf(value) }))
  return { items, masks: new Set(items.map(({ mask }) => mask)) }
}

/** Every combination of one value of each list whose sets do not meet, in the order of the lists. */
function* unmet(lists: readonly Marked[], mask: Mask = -1n): Generator<string[]> {
  const [first, ...others] = lists
  if (!first) {
    if (mask === 0n) yield []
    return
  }
  const met = new Map([...first.masks].map(one => [one, allMeet(mask & one, others)]))
  for (const one of first.items) {
    if (met.get(one.mask)) continue
    for (const rest of unmet(others, mask & one.mask)) yield [one.value, ...rest]
  }
}

/** Whether `mask` meets every combination of the lists; true where one of them is empty. */
function allMeet(mask: Mask, lists: readonly Marked[]): boolean {
  if (lists.some(({ items }) => items.length === 0)) return true
  let met = new Set([mask])
  for (const { masks } of lists) {
    const next = new Set<Mask>()
    for (const a of met) for (const b of masks) next.add(a & b)
    met = next
  }
  return !met.has(0n)
}

/** Parts of the same resource and name become one with all their verbs; paths stay apart, and first. */
function compact(parts: readonly PolicyRule[]): PolicyRule[] {
  const paths = parts.filter(one => one.nonResourceURLs.length > 0)
  const resources = new Map<string, PolicyRule>()
  for (const one of parts) {
    if (one.nonResourceURLs.length > 0) continue
    const key = JSON.stringify([one.apiGroups, one.resources, one.resourceNames])
    const known = resources.get(key)
    resources.set(key, known ? { ...known, verbs: [...known.verbs, ...one.verbs] } : one)
  }
  return [...paths, ...resources.values()]
}
