import { excessRights, rulesText } from '../../facts/excess-rights.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { type Binding, type BoundSubject, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { covers } from '../../kube/rbac/covers.ts'
import type { PolicyRule } from '../../kube/rbac/policy-rule.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { message } from '../../message/message.ts'
import { CONFIGURATION } from '../capsule/support/capsule-tenants.ts'
import { publicUsers } from '../capsule/support/public-users.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { declaredOwner } from './support/declared-owner.ts'
import { isPublic } from './support/is-public.ts'
import { subjectText } from './support/subject-reach.ts'

/** A binding for everybody. */
export const rbacPublicSubject: Rule = {
  id: 'rbac-public-subject',
  severity: 'critical',
  title: 'RBAC binding for all users',
  why: 'The groups `system:authenticated`, `system:unauthenticated` and `system:serviceaccounts` include the accounts of all tenants or anonymous users.',
  source: 'https://kubernetes.io/docs/concepts/security/rbac-good-practices/#persistent-risk',
  docs: "Name the accounts. Use `system:serviceaccounts:<namespace>` for all accounts of one of the tenant's namespaces.",
  kinds: [`${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`, CONFIGURATION, HELM_RELEASE],
  *checkObject(subject, context) {
    const { node, object, id } = subject
    yield* publicUsers(subject, context)
    const binding = readBinding(object)
    for (const [at, bound] of (binding?.subjects ?? []).entries()) {
      const what = whatEverybodyGets(context, node, binding!, bound)
      if (what === undefined) continue
      const where =
        id.kind === 'RoleBinding' ? message`in namespace ${quoted('object', id.namespace)}` : 'in the whole cluster'
      yield {
        node,
        object,
        path: ['subjects', at],
        value: `${subjectText(bound)}${what && `: ${what}`}`,
        message: message`${objectPart(id.kind, binding?.namespace ?? '', id.name)} gives ${quoted('identity', subjectText(bound))} the rights of ${quoted('object', binding?.roleRef.name ?? '')} ${where}${what && message` (${quoted('value', what)})`}, which includes accounts of all tenants. Allowed: accounts by name, and the group of a namespace of the same tenant.`,
        fix: message`Replace the subject with the accounts that need the rights.`,
      }
    }
  },
}

/** '' for a tenant, whatever the role is; the rules that are too much for the platform; undefined: nothing to say. */
function whatEverybodyGets(
  context: RuleContext,
  node: FleetNode,
  binding: Binding,
  bound: BoundSubject,
): string | undefined {
  const { index } = context
  const { cluster, tenant } = node
  if (!isPublic(bound)) return undefined
  if (tenant !== undefined) return ''
  const rules = index.roleRules(cluster, binding.roleRef, binding.namespace) ?? []
  const excess = excessRights(rules, NOBODY)
  const ofTenant = binding.namespace !== '' && declaredOwner(context, cluster, binding.namespace) !== undefined
  const grave = ofTenant ? excess : excess.filter(isGrave)
  return grave.length > 0 ? rulesText(grave) : undefined
}

const NOBODY = { owns: () => false, ofCapsule: false }

/** What the platform may let everybody read: what belongs to no namespace, and names rather than content. */
const TO_READ: readonly PolicyRule[] = [
  {
    verbs: ['get', 'list', 'watch'],
    apiGroups: [
      '',
      'storage.k8s.io',
      'scheduling.k8s.io',
      'networking.k8s.io',
      'node.k8s.io',
      'gateway.networking.k8s.io',
      'apiextensions.k8s.io',
      'snapshot.storage.k8s.io',
      'resource.k8s.io',
      'metrics.k8s.io',
    ],
    resources: [
      'namespaces',
      'nodes',
      'storageclasses',
      'csidrivers',
      'priorityclasses',
      'ingressclasses',
      'runtimeclasses',
      'gatewayclasses',
      'customresourcedefinitions',
      'volumesnapshotclasses',
      'deviceclasses',
    ],
    resourceNames: [],
    nonResourceURLs: [],
  },
  { verbs: ['get'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

const isGrave = (rule: PolicyRule) => !covers(TO_READ, [rule])
