import type { PolicyRule } from './policy-rule.ts'
import { isPrefix } from './rule-allows.ts'

/** Refusals list no more than these. */
const MOST = 1000

/**
 * The parts of `servant` that no rule of `owner` covers by itself, as one rule for each resource (and name) with the verbs
 * that are missing; empty: all is covered. A star in the servant needs a star in the owner, a rule without names an owner's
 * rule without names (Covers of k8s.io/component-helpers/auth/rbac/validation, then CompactRules). At most 1,000 parts.
 */
export function uncovered(owner: readonly PolicyRule[], servant: readonly PolicyRule[]): PolicyRule[] {
  const masks = new OwnerMasks(owner)
  const missing: PolicyRule[] = []
  for (const rule of servant) {
    missing.push(...masks.missingResources(rule, MOST - missing.length))
    missing.push(...masks.missingPaths(rule, MOST - missing.length))
    if (missing.length >= MOST) break
  }
  return compact(missing)
}

/** Whether the rules of `owner` cover all of `servant`. */
export function covers(owner: readonly PolicyRule[], servant: readonly PolicyRule[]): boolean {
  return uncovered(owner, servant).length === 0
}

/** A bit for each rule of the owner. */
type Mask = bigint

/**
 * For each value of a rule the owner's rules that have it, so that one combination of values is covered where the four sets
 * meet. Values with the same set are looked at together: a rule of thousands of values costs no more than it is long.
 */
class OwnerMasks {
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
    this.#unnamed = owner.reduce((mask, rule, at) => mask | (rule.resourceNames.length === 0 ? 1n << BigInt(at) : 0n), 0n)
  }

  *missingResources(rule: PolicyRule, most: number): Generator<PolicyRule> {
    const names = rule.resourceNames.length > 0 ? rule.resourceNames : [undefined]
    const sets = [
      byMask(rule.apiGroups, group => this.#groups.star | this.#groups.of(group)),
      byMask(rule.resources, resource => this.#resource(resource)),
      byMask(rule.verbs, verb => this.#verbs.star | this.#verbs.of(verb)),
      byMask(names, name => (name === undefined ? this.#unnamed : this.#unnamed | this.#names.of(name))),
    ] as const
    if (!sets[0].size || !sets[1].size || everyMeets(sets)) return
    let left = most
    for (const group of rule.apiGroups) {
      for (const resource of rule.resources) {
        const both = (this.#groups.star | this.#groups.of(group)) & this.#resource(resource)
        for (const verb of rule.verbs) {
          const three = both & (this.#verbs.star | this.#verbs.of(verb))
          for (const name of names) {
            if (three & (name === undefined ? this.#unnamed : this.#unnamed | this.#names.of(name))) continue
            if (left-- <= 0) return
            yield part([group], [resource], [verb], name === undefined ? [] : [name], [])
          }
        }
      }
    }
  }

  *missingPaths(rule: PolicyRule, most: number): Generator<PolicyRule> {
    let left = most
    for (const url of rule.nonResourceURLs) {
      const held = this.#urls.reduce((mask, own) => (own.url === url || isPrefix(own.url, url) ? mask | own.bit : mask), 0n)
      for (const verb of rule.verbs) {
        if (held & this.#unnamed & (this.#verbs.star | this.#verbs.of(verb))) continue
        if (left-- <= 0) return
        yield part([], [], [verb], [], [url])
      }
    }
  }

  #resource(resource: string): Mask {
    const slash = resource.indexOf('/')
    const below = slash < 0 ? 0n : this.#resources.of(`*${resource.slice(slash)}`)
    return this.#resources.star | this.#resources.of(resource) | below
  }
}

class Values {
  readonly star: Mask
  readonly #masks = new Map<string, Mask>()

  constructor(lists: readonly (readonly string[])[]) {
    for (const [at, list] of lists.entries()) {
      const bit = 1n << BigInt(at)
      for (const value of list) this.#masks.set(value, this.of(value) | bit)
    }
    this.star = this.of('*')
  }

  of(value: string): Mask {
    return this.#masks.get(value) ?? 0n
  }
}

function byMask<T>(values: readonly T[], mask: (value: T) => Mask): ReadonlySet<Mask> {
  return new Set(values.map(mask))
}

/** Whether every combination of one mask of each set has a rule in common. */
function everyMeets(sets: readonly ReadonlySet<Mask>[]): boolean {
  let met = new Set<Mask>([-1n])
  for (const set of sets) {
    const next = new Set<Mask>()
    for (const a of met) for (const b of set) next.add(a & b)
    if (next.has(0n)) return false
    met = next
  }
  return true
}

function part(
  apiGroups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
  resourceNames: readonly string[],
  nonResourceURLs: readonly string[],
): PolicyRule {
  return { verbs, apiGroups, resources, resourceNames, nonResourceURLs }
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
