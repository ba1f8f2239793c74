import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { quoted } from '../../../facts/shown.ts'
import { at, canonical, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { textsOf } from '../../../kube/read-text.ts'
import { type Message, message } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'
import { EXCEPTION_KINDS } from '../../../policy/kyverno/exception-settings.ts'
import { exceptedPolicy } from '../../workloads/support/excepted-policy.ts'
import { changedParameters } from './changed-parameters.ts'
import { relabeledNamespaces, unselectedNamespaces } from './unselected-namespaces.ts'

/** A policy of the platform that denied objects before a change, and denies less after it. */
interface WeakenedPolicy {
  /** The policy as it is, or as it was where it is removed. */
  readonly object: KubeObject
  readonly origin: Origin
  readonly path: Path
  /** How, as the predicate of a sentence. */
  readonly what: Message
  readonly value: string
  /** It may as well deny more. */
  readonly isVague?: true
}

const POLICY = 'admissionregistration.k8s.io/ValidatingAdmissionPolicy'

type Weakening = Pick<WeakenedPolicy, 'path' | 'what'>

interface PolicyKind {
  readonly kind: string
  /** Whether an object of the kind denied anything; `bound`: the names of policies that a binding enforces. */
  enforces(object: KubeObject, bound: ReadonlySet<string>): boolean
  weakenings(was: KubeObject, is: KubeObject): Iterable<Weakening>
}

/** Compares what is written: objects that an expression no longer refuses are found by evaluating them. */
export function* weakenedPolicies(before: FleetIndex, index: FleetIndex, cluster: string): Iterable<WeakenedPolicy> {
  yield* newExceptions(before, index, cluster)
  const bindings = before.platformAnywhere(cluster, binding.kind).map(({ object }) => object)
  const enforcing = bindings.filter(object => denies(object, ACTIONS, false))
  const bound = new Set(enforcing.map(policyOf))
  const relabeled = relabeledNamespaces(before, index, cluster)
  for (const { kind, enforces, weakenings } of KINDS) {
    const present = new Map(index.platformAnywhere(cluster, kind).map(({ object }) => [keyOf(object), object]))
    for (const { object: was } of before.platformAnywhere(cluster, kind)) {
      const is = present.get(keyOf(was))
      if (!enforces(was, bound)) continue
      const own = kind === POLICY ? enforcing.filter(one => policyOf(one) === idOf(was).name) : []
      if (is)
        for (const one of changedParameters(before, index, cluster, [is, ...own]))
          yield { object: is, ...one, isVague: true }
      if (is) for (const one of unselectedNamespaces(is, relabeled)) yield { object: is, ...one }
      if (is?.root === was.root) continue
      if (!is) {
        yield { object: was, origin: was.root.origin, path: [], what: message`is removed`, value: 'removed' }
        continue
      }
      for (const { path, what } of weakenings(was, is)) {
        const written = at(is.root, path)
        const origin = written?.origin ?? is.root.origin
        yield { object: is, origin, path, what, value: `${path.join('/')} ${written ? canonical(written) : ''}` }
      }
    }
  }
}

/** Exceptions of the platform that are new or changed. */
function* newExceptions(before: FleetIndex, index: FleetIndex, cluster: string): Iterable<WeakenedPolicy> {
  for (const kind of EXCEPTION_KINDS) {
    const known = new Set(before.platformAnywhere(cluster, kind).map(({ object }) => canonical(object.root)))
    for (const { object } of index.platformAnywhere(cluster, kind)) {
      const spec = canonical(object.root)
      if (known.has(spec) || !exceptedPolicy(before, cluster, object)) continue
      const what = message`exempts objects from a policy`
      yield { object, origin: object.root.origin, path: ['spec'], what, value: hashOf([spec]) }
    }
  }
}

const keyOf = (object: KubeObject): string => {
  const { namespace, name } = idOf(object)
  return `${namespace}/${name}`
}

const itemsOf = (node: Node | undefined): readonly Node[] => (node?.type === 'list' ? node.items : [])
const isFalse = (node: Node | undefined) => node?.type === 'scalar' && node.value === false
const text = (object: KubeObject, path: Path, otherwise: string) => stringAt(object.root, path) ?? otherwise

/** Items of a list that another list does not hold. */
function lost(from: Node | undefined, others: Node | undefined): readonly Node[] {
  const known = new Set(itemsOf(others).map(canonical))
  return itemsOf(from).filter(item => !known.has(canonical(item)))
}

/** Whether a selector selects less: another one may, and only none selects everything. */
function isNarrower(was: Node | undefined, is: Node | undefined): boolean {
  const isNone = (node: Node | undefined) => !node || canonical(node) === '{}' || canonical(node) === 'null'
  if (isNone(is)) return false
  return isNone(was) || canonical(was!) !== canonical(is!)
}

function* ofFailurePolicy(
  was: KubeObject,
  is: KubeObject,
  path: Path = ['spec', 'failurePolicy'],
): Iterable<Weakening> {
  if (text(was, path, 'Fail') === 'Fail' && text(is, path, 'Fail') === 'Ignore')
    yield { path, what: message`lets objects pass that it cannot evaluate` }
}

/** `matchConstraints` of a policy, or `matchResources` of a binding. */
function* ofMatch(was: KubeObject, is: KubeObject, base: Path): Iterable<Weakening> {
  const [old, now] = [at(was.root, base), at(is.root, base)]
  for (const key of ['namespaceSelector', 'objectSelector']) {
    if (isNarrower(at(old, [key]), at(now, [key]))) yield { path: [...base, key], what: message`selects other objects` }
  }
  const [rules, left] = [['resourceRules'], ['excludeResourceRules']] as const
  const isFewer =
    itemsOf(at(now, rules)).length > 0 &&
    (itemsOf(at(old, rules)).length === 0 || lost(at(old, rules), at(now, rules)).length > 0)
  if (isFewer) yield { path: [...base, ...rules], what: message`selects other resources` }
  if (lost(at(now, left), at(old, left)).length > 0)
    yield { path: [...base, ...left], what: message`leaves out more resources` }
}

function* ofExpressions(was: KubeObject, is: KubeObject): Iterable<Weakening> {
  const [conditions, validations] = [
    ['spec', 'matchConditions'],
    ['spec', 'validations'],
  ] as const
  if (lost(at(is.root, conditions), at(was.root, conditions)).length > 0)
    yield { path: conditions, what: message`applies only under another condition` }
  if (itemsOf(at(is.root, validations)).length < itemsOf(at(was.root, validations)).length)
    yield { path: validations, what: message`has fewer validations` }
}

function* ofCelPolicy(was: KubeObject, is: KubeObject): Iterable<Weakening> {
  yield* ofFailurePolicy(was, is)
  yield* ofMatch(was, is, ['spec', 'matchConstraints'])
  yield* ofExpressions(was, is)
}

const denies = (object: KubeObject, path: Path, byDefault: boolean): boolean => {
  const actions = textsOf(at(object.root, path)) ?? []
  return actions.length === 0 ? byDefault : actions.includes('Deny')
}
const ACTIONS = ['spec', 'validationActions'] as const
const policyOf = (one: KubeObject) => text(one, ['spec', 'policyName'], '')

const binding: PolicyKind = {
  kind: 'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  enforces: object => denies(object, ACTIONS, false),
  *weakenings(was, is) {
    if (!denies(is, ACTIONS, false)) yield { path: ACTIONS, what: message`no longer denies` }
    yield* ofMatch(was, is, ['spec', 'matchResources'])
    for (const key of ['policyName', 'paramRef']) {
      const [old, now] = [at(was.root, ['spec', key]), at(is.root, ['spec', key])]
      if ((old ? canonical(old) : '') !== (now ? canonical(now) : ''))
        yield { path: ['spec', key], what: message`binds another policy or other parameters` }
    }
  },
}

const ofKyverno = (kind: string): PolicyKind => ({
  kind: `policies.kyverno.io/${kind}`,
  enforces: object =>
    denies(object, ACTIONS, true) && !isFalse(at(object.root, ['spec', 'evaluation', 'admission', 'enabled'])),
  *weakenings(was, is) {
    if (!denies(is, ACTIONS, true)) yield { path: ACTIONS, what: message`no longer denies` }
    const admission = ['spec', 'evaluation', 'admission', 'enabled']
    if (isFalse(at(is.root, admission))) yield { path: admission, what: message`is no longer evaluated at admission` }
    yield* ofCelPolicy(was, is)
    const references = ['spec', 'matchImageReferences']
    const [old, now] = [at(was.root, references), at(is.root, references)]
    if (itemsOf(now).length > 0 && (itemsOf(old).length === 0 || lost(old, now).length > 0))
      yield { path: references, what: message`selects other images` }
  },
})

/** The action of a rule of a ClusterPolicy, overrides for single namespaces left aside. */
function isEnforced(policy: KubeObject, rule: Node): boolean {
  if (isFalse(at(policy.root, ['spec', 'admission']))) return false
  const own = [
    rule && stringAt(rule, ['validate', 'failureAction']),
    ...itemsOf(at(rule, ['verifyImages'])).map(one => stringAt(one, ['failureAction'])),
  ]
  const action = own.find(one => one !== undefined) ?? text(policy, ['spec', 'validationFailureAction'], 'Audit')
  return action.toLowerCase() === 'enforce'
}

const RULES = ['spec', 'rules'] as const

function* ofRules(was: KubeObject, is: KubeObject): Iterable<Weakening> {
  const present = itemsOf(at(is.root, RULES))
  for (const rule of itemsOf(at(was.root, RULES))) {
    if (!isEnforced(was, rule)) continue
    const name = stringAt(rule, ['name']) ?? ''
    const index = present.findIndex(one => stringAt(one, ['name']) === name)
    const now = present[index]
    if (!now) {
      yield { path: RULES, what: message`loses its rule ${quoted('object', name)}` }
      continue
    }
    const base = [...RULES, index]
    if (!isEnforced(is, now))
      yield { path: base, what: message`only reports what its rule ${quoted('object', name)} denied` }
    yield* ofRule(rule, now, base, name)
  }
}

function* ofRule(rule: Node, now: Node, base: Path, name: string): Iterable<Weakening> {
  const who = quoted('object', name)
  const isChanged = (key: string) => {
    const [old, young] = [at(rule, [key]), at(now, [key])]
    return (old ? canonical(old) : '') !== (young ? canonical(young) : '')
  }
  // one filter more selects more, and excludes more
  if (isChanged('match') && !isWider(at(rule, ['match']), at(now, ['match'])))
    yield { path: [...base, 'match'], what: message`selects other objects by its rule ${who}` }
  if (at(now, ['exclude']) && isChanged('exclude') && !isWider(at(now, ['exclude']), at(rule, ['exclude'])))
    yield { path: [...base, 'exclude'], what: message`excludes other objects from its rule ${who}` }
  if (at(now, ['preconditions']) && isChanged('preconditions'))
    yield { path: [...base, 'preconditions'], what: message`applies its rule ${who} only under another condition` }
}

/** Whether filters select all that others select: for each of these one selects as much. */
function isWider(others: Node | undefined, filters: Node | undefined): boolean {
  const [small, large] = [at(others, ['any']), at(filters, ['any'])]
  if (small?.type !== 'list' || large?.type !== 'list') return false
  return small.items.every(one => large.items.some(other => isAtLeast(one, other)))
}

const SELECTORS = new Set(['selector', 'namespaceSelector', 'annotations'])

/** Whether a filter selects all that another selects: it asks for no other part, and its lists hold as much. */
function isAtLeast(small: Node, large: Node): boolean {
  if (small.type === 'list' && large.type === 'list') return lost(small, large).length === 0
  if (small.type !== 'map' || large.type !== 'map') return canonical(small) === canonical(large)
  return [...large.fields].every(([key, { value }]) => {
    const other = at(small, [key])
    if (!other) return false
    return SELECTORS.has(key) ? canonical(other) === canonical(value) : isAtLeast(other, value)
  })
}

const ofClusterPolicy = (kind: string): PolicyKind => ({
  kind: `kyverno.io/${kind}`,
  enforces: object => itemsOf(at(object.root, RULES)).some(rule => isEnforced(object, rule)),
  *weakenings(was, is) {
    const own = ['spec', 'webhookConfiguration', 'failurePolicy']
    yield* ofFailurePolicy(was, is, at(is.root, own) ? own : undefined)
    const overrides = ['spec', 'validationFailureActionOverrides']
    const added = lost(at(is.root, overrides), at(was.root, overrides))
    if (added.some(one => stringAt(one, ['action'])?.toLowerCase() === 'audit'))
      yield { path: overrides, what: message`only reports in more namespaces` }
    yield* ofRules(was, is)
  },
})

const KINDS: readonly PolicyKind[] = [
  ofClusterPolicy('ClusterPolicy'),
  ofClusterPolicy('Policy'),
  {
    kind: POLICY,
    enforces: (object, bound) => bound.has(idOf(object).name),
    weakenings: ofCelPolicy,
  },
  binding,
  ...['Validating', 'ImageValidating'].flatMap(what => [
    ofKyverno(`${what}Policy`),
    ofKyverno(`Namespaced${what}Policy`),
  ]),
]
