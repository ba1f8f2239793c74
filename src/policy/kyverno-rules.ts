import type { FleetIndex } from '../facts/fleet-index.ts'
import { namespaceLabels } from '../facts/namespace-labels.ts'
import type { Subject } from '../facts/subject.ts'
import { at, type Node, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { textsOf } from '../kube/read-text.ts'
import { isSelected, type NamespaceLabels } from './kyverno-selection.ts'
import { matchesWildcard } from './wildcard.ts'

/** A validating rule of a Kyverno policy of the fleet that speaks about an object. */
export interface KyvernoRule {
  /** `ClusterPolicy verify-git-repositories`. */
  readonly policy: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly name: string
  readonly validate: Node
  readonly message: string
  /** Whether it refuses; else it only reports. */
  readonly enforces: boolean
}

/**
 * The rules that speak about an object, of policies that the platform renders. What depends on more than the object
 * (preconditions, context, roles of the user) is left to the cluster.
 */
export function policyRulesFor(index: FleetIndex, subject: Subject): KyvernoRule[] {
  const { cluster } = subject.node
  const { namespace } = subject.id
  const policies = [
    ...index.platformAnywhere(cluster, 'kyverno.io/ClusterPolicy'),
    ...(namespace ? index.platformRendered(cluster, 'kyverno.io/Policy', namespace) : []),
  ]
  const labels: NamespaceLabels = name => namespaceLabels(index, cluster, name)
  const found = policies.flatMap(({ object }) => rulesOf(object, subject, labels))
  if (found.length === 0) return found
  const exceptions = index.platformAnywhere(cluster, 'kyverno.io/PolicyException')
  return found.filter(rule => !exceptions.some(({ object }) => isExcepted(object, rule, subject, labels)))
}

function rulesOf(policy: KubeObject, subject: Subject, labels: NamespaceLabels): KyvernoRule[] {
  const { kind, namespace, name } = idOf(policy)
  const rules = at(policy.root, ['spec', 'rules'])
  if (rules?.type !== 'list') return []
  return rules.items.flatMap(rule => {
    const validate = at(rule, ['validate'])
    const leftToCluster = ['preconditions', 'context', 'celPreconditions'].some(key => at(rule, [key]) !== undefined)
    if (validate?.type !== 'map' || leftToCluster || isSelected(rule, subject, labels) !== true) return []
    const enforces = isEnforced(policy, validate, subject)
    if (enforces === undefined) return []
    const ruleName = stringAt(rule, ['name']) ?? ''
    const message = stringAt(validate, ['message']) ?? ''
    return [{ policy: { kind, namespace, name }, name: ruleName, validate, message, enforces }]
  })
}

/** What the rule says goes before what the policy says, exceptions for namespaces before both; `Audit` is the default. */
function isEnforced(policy: KubeObject, validate: Node, subject: Subject): boolean | undefined {
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

function isExcepted(exception: KubeObject, rule: KyvernoRule, subject: Subject, labels: NamespaceLabels): boolean {
  const list = at(exception.root, ['spec', 'exceptions'])
  const { namespace, name } = rule.policy
  const full = namespace ? `${namespace}/${name}` : name
  const names = list?.type === 'list' ? list.items : []
  const isNamed = names.some(one => {
    const rules = textsOf(at(one, ['ruleNames'])) ?? []
    return stringAt(one, ['policyName']) === full && rules.some(pattern => matchesWildcard(pattern, rule.name))
  })
  return isNamed && isSelected({ ...exception.root, fields: specOf(exception) }, subject, labels) !== false
}

function specOf(exception: KubeObject) {
  const spec = at(exception.root, ['spec'])
  return spec?.type === 'map' ? spec.fields : new Map()
}
