import { hashOf } from '../../../facts/fingerprint.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { at, canonical, itemsOf, type Node, originAt, type Path, stringAt } from '../../../kube/node.ts'
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

interface PolicyKind {
  readonly kind: string
  /** Whether an object of the kind denied anything; `bound`: the names of policies that a binding enforces. */
  enforces(object: KubeObject, bound: ReadonlySet<string>): boolean
}

/** Any change of what is written counts: whether it denies less, only people can say of objects that are not in the fleet. */
export function* weakenedPolicies(before: FleetIndex, index: FleetIndex, cluster: string): Iterable<WeakenedPolicy> {
  yield* newExceptions(before, index, cluster)
  const bindings = before.platformAnywhere(cluster, binding.kind).map(({ object }) => object)
  const enforcing = bindings.filter(object => denies(object, ACTIONS, false))
  const bound = new Set(enforcing.map(policyOf))
  const relabeled = relabeledNamespaces(before, index, cluster)
  for (const { kind, enforces } of KINDS) {
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
      const path = firstChange(at(was.root, ['spec']), at(is.root, ['spec']), ['spec'])
      if (!path) continue
      const written = at(is.root, path)
      const value = `${path.join('/')} ${written ? canonical(written) : ''}`
      const origin = originAt(is.root, path)
      yield { object: is, origin, path, what: message`is changed`, value, isVague: true }
    }
  }
}

/** Where two specs begin to differ; undefined: nowhere. */
function firstChange(was: Node | undefined, is: Node | undefined, path: Path): Path | undefined {
  if (was && is && canonical(was) === canonical(is)) return undefined
  if (was?.type === 'map' && is?.type === 'map') {
    for (const key of new Set([...is.fields.keys(), ...was.fields.keys()])) {
      const found = firstChange(at(was, [key]), at(is, [key]), [...path, key])
      if (found || was.fields.has(key) !== is.fields.has(key)) return found ?? path
    }
  }
  if (was?.type === 'list' && is?.type === 'list' && was.items.length === is.items.length) {
    for (const [index, item] of is.items.entries()) {
      const found = firstChange(was.items[index], item, [...path, index])
      if (found) return found
    }
  }
  return path
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

const isFalse = (node: Node | undefined) => node?.type === 'scalar' && node.value === false
const text = (object: KubeObject, path: Path, otherwise: string) => stringAt(object.root, path) ?? otherwise

const denies = (object: KubeObject, path: Path, byDefault: boolean): boolean => {
  const actions = textsOf(at(object.root, path)) ?? []
  return actions.length === 0 ? byDefault : actions.includes('Deny')
}
const ACTIONS = ['spec', 'validationActions'] as const
const policyOf = (one: KubeObject) => text(one, ['spec', 'policyName'], '')

const binding: PolicyKind = {
  kind: 'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  enforces: object => denies(object, ACTIONS, false),
}

const ofKyverno = (kind: string): PolicyKind => ({
  kind: `policies.kyverno.io/${kind}`,
  enforces: object =>
    denies(object, ACTIONS, true) && !isFalse(at(object.root, ['spec', 'evaluation', 'admission', 'enabled'])),
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

const ofClusterPolicy = (kind: string): PolicyKind => ({
  kind: `kyverno.io/${kind}`,
  enforces: object => itemsOf(at(object.root, RULES)).some(rule => isEnforced(object, rule)),
})

const KINDS: readonly PolicyKind[] = [
  ofClusterPolicy('ClusterPolicy'),
  ofClusterPolicy('Policy'),
  {
    kind: POLICY,
    enforces: (object, bound) => bound.has(idOf(object).name),
  },
  binding,
  ...['Validating', 'ImageValidating'].flatMap(what => [
    ofKyverno(`${what}Policy`),
    ofKyverno(`Namespaced${what}Policy`),
  ]),
]

/** The enforcing policies of the platform among these objects. */
export const enforcedIn = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(object => KINDS.some(({ kind, enforces }) => kind === kindOf(object) && enforces(object, NONE)))

const NONE: ReadonlySet<string> = new Set()
