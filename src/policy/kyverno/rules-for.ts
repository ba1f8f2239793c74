import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textMapOf, textsOf } from '../../kube/read-text.ts'
import type { Origin } from '../../origin.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import type { PolicyRuleName } from '../engine.ts'
import { podTemplateOf } from './pod-template-of.ts'
import { isSelected, type KyvernoSubject, type NamespaceLabels } from './selection.ts'
import { matchesWildcard } from './wildcard.ts'

/** A validating rule of a Kyverno policy of the fleet that speaks about an object. */
export interface KyvernoRule extends PolicyRuleName {
  readonly origin: Origin
  readonly validate: Node
  readonly message: string
  /** Whether it refuses; else it only reports. */
  readonly enforces: boolean
  /** Where the Pod stands that it speaks about, in an object that makes Pods. */
  readonly template: Path
  /** Why it is not known whether it speaks about the object. */
  readonly why?: string
}

/** The rules that speak about an object, or may, of policies that the platform renders. */
export function rulesFor(world: AdmissionWorld, subject: KyvernoSubject): KyvernoRule[] {
  const { namespace } = subject.id
  const policies = [...world.policies(CLUSTER_POLICY), ...(namespace ? world.policiesIn(POLICY, namespace) : [])]
  const labels: NamespaceLabels = name => {
    const object = world.object('/Namespace', '', name)
    return new Map([
      ...(textMapOf(at(object?.root, ['metadata', 'labels'])) ?? []),
      ['kubernetes.io/metadata.name', name],
    ])
  }
  const found = policies.flatMap(object => rulesOf(object, subject, labels))
  if (found.length === 0) return found
  const exceptions = world.policies('kyverno.io/PolicyException')
  return found.flatMap(one => {
    const excepted = exceptions.map(object => isExcepted(object, one, subject, labels))
    if (excepted.includes(true)) return []
    return excepted.includes(undefined)
      ? [{ ...one, why: 'a PolicyException asks for what only the cluster knows' }]
      : [one]
  })
}

export const CLUSTER_POLICY = 'kyverno.io/ClusterPolicy'
export const POLICY = 'kyverno.io/Policy'

/** What a rule asks of the cluster. */
const OF_THE_CLUSTER = ['preconditions', 'context', 'celPreconditions']

function rulesOf(policy: KubeObject, subject: KyvernoSubject, labels: NamespaceLabels): KyvernoRule[] {
  const { kind, namespace, name } = idOf(policy)
  const rules = at(policy.root, ['spec', 'rules'])
  if (rules?.type !== 'list') return []
  return rules.items.flatMap((rule): KyvernoRule[] => {
    const validate = at(rule, ['validate'])
    const isOwn = isSelected(rule, subject, labels)
    const template = isOwn === false ? podTemplateOf(policy, rule, subject) : undefined
    const isMeant = template ? isSelected(rule, { ...subject, kind: '/Pod' }, labels) : isOwn
    if (validate?.type !== 'map' || isMeant === false) return []
    const enforces = isEnforced(policy, validate, subject)
    const asks = OF_THE_CLUSTER.find(key => at(rule, [key]) !== undefined) ?? (isMeant ? undefined : 'match or exclude')
    const why = asks === undefined ? undefined : `${asks} asks for what only the cluster knows`
    return [
      {
        policy: { kind, namespace, name },
        rule: stringAt(rule, ['name']) ?? '',
        origin: rule.origin,
        validate,
        message: stringAt(validate, ['message']) ?? '',
        enforces: enforces === true,
        template: template ?? [],
        ...(why !== undefined
          ? { why }
          : enforces === undefined
            ? { why: 'failureActionOverrides selects by labels' }
            : {}),
      },
    ]
  })
}

/** What the rule says goes before what the policy says, exceptions for namespaces before both; `Audit` is the default. */
function isEnforced(policy: KubeObject, validate: Node, subject: KyvernoSubject): boolean | undefined {
  const own = at(validate, ['failureActionOverrides'])
  const overrides = own ?? at(policy.root, ['spec', 'validationFailureActionOverrides'])
  for (const one of overrides?.type === 'list' ? overrides.items : []) {
    const namespaces = textsOf(at(one, ['namespaces']))
    if (!namespaces || at(one, ['namespaceSelector'])) return undefined
    const action = stringAt(one, ['action'])
    if (action && namespaces.some(pattern => matchesWildcard(pattern, subject.id.namespace))) return isEnforce(action)
  }
  const action = stringAt(validate, ['failureAction']) ?? stringAt(policy.root, ['spec', 'validationFailureAction'])
  return isEnforce(action ?? 'Audit')
}

const isEnforce = (action: string) => action.toLowerCase() === 'enforce'

/** Undefined: it cannot be decided here. */
function isExcepted(
  exception: KubeObject,
  rule: PolicyRuleName,
  subject: KyvernoSubject,
  labels: NamespaceLabels,
): boolean | undefined {
  const list = at(exception.root, ['spec', 'exceptions'])
  const { namespace, name } = rule.policy
  const full = namespace ? `${namespace}/${name}` : name
  const names = list?.type === 'list' ? list.items : []
  const isNamed = names.some(one => {
    const rules = textsOf(at(one, ['ruleNames'])) ?? []
    return stringAt(one, ['policyName']) === full && rules.some(pattern => matchesWildcard(pattern, rule.rule))
  })
  return isNamed && isSelected({ ...exception.root, fields: specOf(exception) }, subject, labels)
}

function specOf(exception: KubeObject) {
  const spec = at(exception.root, ['spec'])
  return spec?.type === 'map' ? spec.fields : new Map()
}
