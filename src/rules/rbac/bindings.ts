import { capital, listed, type Message, message } from '../../base/message.ts'
import { excessRights, rulesText } from '../../fleet/facts/cluster-rights.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Naming } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP, readBinding } from '../../kube/rbac/binding.ts'
import { covers } from '../../kube/rbac/confirm-write.ts'
import type { PolicyRule } from '../../kube/rbac/policy-rule.ts'
import { CONFIGURATION, isPublic, publicUsers } from '../capsule/capsule-users.ts'
import { type Rule, type RuleContext, type Subject, serverAnswer, type Violation } from '../model/rule.ts'
import { bindingCause, declaredOwner, ownerOfSubject, reachOf, subjectText } from './binding-subjects.ts'

/** A tenant's ClusterRoleBinding gives rights in every namespace. */
export const rbacClusterBinding: Rule = {
  id: 'rbac-cluster-binding',
  severity: 'critical',
  title: 'ClusterRoleBinding for a tenant',
  why: 'A ClusterRoleBinding grants the role in every namespace, including those of other tenants and of the platform.',
  source: 'https://github.com/kubernetes-sigs/multi-tenancy (benchmarks, MTB-PL1-CC-CPI-1)',
  docs: 'Write a RoleBinding in a namespace of the tenant. It may name a ClusterRole. The platform grants cluster-wide rights only to accounts in its own namespaces.',
  kinds: [`${RBAC_GROUP}/ClusterRoleBinding`],
  *checkTenantObject(subject, { index }) {
    const { id } = subject
    const role = subject.text(['roleRef', 'name']) ?? ''
    const subjects = subject.at(['subjects'])
    const count = subjects?.type === 'list' ? subjects.items.length : 0
    yield subject.violation(subject.at(['roleRef']) ? ['roleRef'] : ['kind'], role, {
      message: message`${objectPart(id.kind, '', id.name)} binds ${count} ${count === 1 ? 'subject' : 'subjects'} to ${quoted('value', role)} in every namespace of the cluster. Allowed: a RoleBinding in the tenant's namespaces.${serverAnswer(index, subject)}`,
      fix: message`Replace it with a RoleBinding, and set metadata.namespace to one of the tenant's namespaces.`,
    })
  },
}

const ROLE_BINDING = `${RBAC_GROUP}/RoleBinding`

/** A binding in a tenant's namespace whose subject is not the tenant's. */
export const rbacForeignSubject: Rule = {
  id: 'rbac-foreign-subject',
  severity: 'high',
  title: 'RoleBinding for another tenant',
  why: "A RoleBinding for another tenant's account opens the namespace to everyone who can write to that tenant's repository. A Kubernetes group (`system:*`) can include every account of another namespace, or every node.",
  source: 'https://fluxcd.io/flux/cmd/flux_create_tenant/',
  docs: "Bind accounts of the tenant's namespaces. The platform grants rights to people and other teams. A tenant may bind a person or group that the platform has bound in one of the tenant's namespaces.",
  kinds: [ROLE_BINDING],
  *checkObject(subject, context) {
    const { node, object, id } = subject
    const evaluateFleet = node.tenant === undefined ? evaluatePlatform : evaluateTenant
    const binding = readBinding(object)
    if (!binding) return
    const role = binding.roleRef.name
    const all = binding.subjects.map(bound => evaluateFleet(context, subject, bound))
    for (const [at, bound] of binding.subjects.entries()) {
      const found = all[at]
      if (!found) continue
      const same = binding.subjects.filter((_, index) => all[index] && all[index].level === found.level)
      const whom = listed(same.map(one => quoted('identity', subjectText(one))))
      yield subject.violation(['subjects', at], subjectText(bound), {
        cause: bindingCause(displayRbac(binding)),
        message: message`${subject.who} gives ${whom} the rights of ${quoted('value', role)} in namespace ${quoted('object', id.namespace)}. ${capital(found.why)}`,
        fix: found.fix,
        ...(found.level ? { level: found.level } : {}),
        ...(found.level ? {} : { severity: 'critical' as const }),
      })
    }
  },
}

type Found = Pick<Violation, 'fix' | 'level'> & { readonly why: string | Message }

/** The platform may bind its own accounts and people freely, but not one tenant's in another's namespace. */
function evaluatePlatform(context: RuleContext, { node, id }: Subject, bound: BoundSubject): Found | undefined {
  const here = declaredOwner(context, node.cluster, id.namespace)
  const there = here === undefined ? undefined : ownerOfSubject(context, node.cluster, bound)
  if (there === undefined || there === here) return undefined
  return {
    why: 'the account is in a namespace of another tenant, who would act here, too. Allowed: accounts of the same tenant and of the platform.',
    fix: message`Remove the subject, or assign both namespaces to one tenant.`,
  }
}

function evaluateTenant({ index }: RuleContext, { node, id }: Subject, bound: BoundSubject): Found | undefined {
  const tenant = node.tenant ?? ''
  // the rule rbac-public-subject reports it
  if (isPublic(bound)) return undefined
  const reach = reachOf(bound)
  if (reach.of === 'accounts' && index.owns(node.cluster, tenant, reach.namespace)) return undefined
  if (isBoundByPlatform(index, node.cluster, id.namespace, bound)) return undefined
  return {
    ...(isOfKubernetes(bound) ? {} : { level: 'warning' as const }),
    why: message`the subject does not belong to tenant ${quoted('tenant', tenant)}. Allowed: accounts of the tenant's own namespaces.`,
    fix: message`Replace the subject with an account of the tenant's namespaces, or ask a fleet admin to bind it.`,
  }
}

/** A group of Kubernetes itself: the masters, the nodes, all accounts of another owner's namespace. */
const isOfKubernetes = ({ kind, name }: BoundSubject) => kind === 'Group' && name.startsWith('system:')

function isBoundByPlatform(index: FleetIndex, cluster: string, namespace: string, bound: BoundSubject): boolean {
  return index.found(cluster, ROLE_BINDING, namespace, BOUND, subjectText(bound)).length > 0
}

/** Subjects of the platform's bindings. */
const BOUND: Naming = {
  id: 'platform binds',
  of: ({ node, object }) => (node.tenant === undefined ? (readBinding(object)?.subjects ?? []).map(subjectText) : []),
}

/** A binding for public groups. */
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
      yield subject.violation(['subjects', at], `${subjectText(bound)}${what && `: ${what}`}`, {
        message: message`${objectPart(id.kind, binding?.namespace ?? '', id.name)} gives ${quoted('identity', subjectText(bound))} the rights of ${quoted('object', binding?.roleRef.name ?? '')} ${where}${what && message` (${quoted('value', what)})`}. It includes accounts of all tenants. Allowed: accounts by name, and the group of a namespace of the same tenant.`,
        fix: message`Replace the subject with the accounts that need the rights.`,
      })
    }
  },
}

/** '' for a tenant, whatever the role is; for the platform the excessive rules; undefined: nothing to report. */
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

/** What the platform may make readable for all users: cluster-scoped resources, with names rather than content. */
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
