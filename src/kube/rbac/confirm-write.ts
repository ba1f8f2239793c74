import { at, canonical } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { textMapOf } from '../read-fields.ts'
import type { Authorizer } from './authorizer.ts'
import { type Binding, RBAC_GROUP, type Role, readBinding, readRole } from './binding.ts'
import {
  aggregated,
  compactString,
  isPrefix,
  MASTERS,
  type PolicyRule,
  quote,
  quoteList,
  type UserInfo,
} from './policy-rule.ts'

/** Why the API server refuses a role or binding although its author may write that kind. */
export interface WriteRefusal {
  /**
   * `escalation`: more than the author holds; `missing-role`: no such role yet; `immutable`: another role than the standing
   * binding's, which only a new object can have; `invalid`: not a role or binding at all.
   */
  readonly reason: 'escalation' | 'missing-role' | 'immutable' | 'invalid'
  /** The API server's own words; '' for `invalid`. */
  readonly message: string
  /** The rights that the author lacks. */
  readonly missing: readonly PolicyRule[]
}

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

/**
 * What the API server checks beyond authorization when a user applies a Role, ClusterRole, RoleBinding or ClusterRoleBinding:
 * a user grants only what they hold, except by the verbs `escalate` and `bind` (policybased storage of k8s.io/kubernetes
 * pkg/registry/rbac). Undefined: allowed, or another kind. Whether the user may write it at all is `authorize`'s answer.
 */
export function confirmWrite(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before?: KubeObject,
): WriteRefusal | undefined {
  const { apiVersion, kind } = idOf(object)
  if (groupOf(apiVersion) !== RBAC_GROUP) return undefined
  const check = kind.endsWith('Binding') ? confirmBinding : confirmRole
  if (!['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].includes(kind)) return undefined
  return check(authorizer, user, object, before)
}

function confirmRole(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before: KubeObject | undefined,
): WriteRefusal | undefined {
  const role = readRole(object)
  if (!role) return INVALID
  if (user.groups.includes(MASTERS)) return undefined
  const { namespace, name } = role
  const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
  if (authorizer.allows(user, { verb: 'escalate', apiGroup: RBAC_GROUP, resource, namespace, name })) return undefined
  if (before && isUnchanged(object, before) && standsAsWritten(authorizer, role, object)) return undefined
  const place = { resource, name, namespace }
  const refusal = confirmRules(authorizer, user, role.rules, place)
  if (refusal) return refusal
  if (!role.selectors && !(before && readRole(before)?.selectors)) return undefined
  const { missing } = confirmRules(authorizer, user, FULL_AUTHORITY, place) ?? {}
  const message = `${forbids(place)}: must have cluster-admin privileges to use the aggregationRule`
  return missing && { reason: 'escalation', message, missing }
}

function confirmBinding(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before: KubeObject | undefined,
): WriteRefusal | undefined {
  const binding = readBinding(object)
  if (!binding) return INVALID
  if (before && isUnchanged(object, before)) return undefined
  return confirmGrant(authorizer, user, binding) ?? confirmSameRole(binding, before && readBinding(before))
}

function confirmGrant(authorizer: Authorizer, user: UserInfo, binding: Binding): WriteRefusal | undefined {
  if (user.groups.includes(MASTERS)) return undefined
  const { namespace, roleRef } = binding
  const roles = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
  const bind = { verb: 'bind', apiGroup: RBAC_GROUP, resource: roles, namespace, name: roleRef.name }
  if (authorizer.allows(user, bind)) return undefined
  const rules = authorizer.rulesOf(roleRef, namespace)
  const resource = binding.kind === 'RoleBinding' ? 'rolebindings' : 'clusterrolebindings'
  if (!rules) return { reason: 'missing-role', message: notFound(resource, binding), missing: [] }
  return confirmRules(authorizer, user, rules, { resource, name: binding.name, namespace })
}

function confirmSameRole({ kind, name, roleRef }: Binding, before: Binding | undefined): WriteRefusal | undefined {
  if (!before || (before.roleRef.kind === roleRef.kind && before.roleRef.name === roleRef.name)) return undefined
  const value = `{"APIGroup":"${RBAC_GROUP}","Kind":"${roleRef.kind}","Name":${JSON.stringify(roleRef.name)}}`
  const message = `${kind}.${RBAC_GROUP} ${quote(name)} is invalid: roleRef: Invalid value: ${value}: cannot change roleRef`
  return { reason: 'immutable', message, missing: [] }
}

interface Place {
  readonly resource: string
  readonly name: string
  readonly namespace: string
}

const INVALID: WriteRefusal = { reason: 'invalid', message: '', missing: [] }

function forbids({ resource, name }: Place): string {
  return `${resource}.${RBAC_GROUP} ${quote(name)} is forbidden`
}

/** The storage says what is written, not what is missing, where it does not find the role of a binding. */
function notFound(resource: string, { roleRef }: Binding): string {
  return `${resource}.${RBAC_GROUP} ${quote(roleRef.name)} not found`
}

/** ConfirmNoEscalation of k8s.io/kubernetes pkg/registry/rbac/validation. */
function confirmRules(
  authorizer: Authorizer,
  user: UserInfo,
  rules: readonly PolicyRule[],
  place: Place,
): WriteRefusal | undefined {
  const { grants, unresolved } = authorizer.held(user, place.namespace)
  const held = grants.map(grant => grant.rule)
  const missing = uncovered(held, rules)
  if (missing.length === 0) return undefined
  const lines = [...new Set(missing.map(compactString))].sort()
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`
  const notes =
    unresolved.length > 0
      ? `; resolution errors: [${aggregated(unresolved.map(one => notFound(place.resource, one)))}]`
      : ''
  const message = `${forbids(place)}: ${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${notes}`
  return { reason: 'escalation', message, missing }
}

/** Rules that the controller has filled in are changed by writing the field again, even as an empty list. */
function standsAsWritten(
  authorizer: Authorizer,
  { kind, name, namespace, selectors, rules }: Role,
  { root }: KubeObject,
): boolean {
  if (!selectors || !root.fields.has('rules')) return true
  const sorted = (list: readonly PolicyRule[]) => JSON.stringify(list.map(rule => JSON.stringify(rule)).sort())
  return sorted(authorizer.rulesOf({ kind, name }, namespace) ?? []) === sorted(rules)
}

/** Whether nothing but owner references and finalizers differs (IsOnlyMutatingGCFields): an empty list is an absent one. */
function isUnchanged(object: KubeObject, before: KubeObject): boolean {
  return meaningOf(object) === meaningOf(before)
}

function meaningOf(object: KubeObject): string {
  const role = readRole(object)
  const texts = (field: string) => [...(textMapOf(at(object.root, ['metadata', field])) ?? [])].sort()
  const aggregation = role?.selectors && canonical(at(object.root, ['aggregationRule'])!)
  return JSON.stringify([role?.rules ?? readBinding(object), aggregation, texts('labels'), texts('annotations')])
}

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
