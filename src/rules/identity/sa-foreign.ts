import { excessRights, rulesText } from '../../facts/excess-rights.ts'
import { hashOf } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/appliers.ts'
import { ACCOUNT_FIELD } from '../../flux/kinds.ts'
import { idOf } from '../../kube/object.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { userOfAccount } from '../../kube/rbac/groups-of.ts'
import { readBinding } from '../../kube/rbac/read-binding.ts'
import { codeWord, listed, message, part } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { bindingCause } from '../rbac/support/binding-cause.ts'
import { declaredOwner } from '../rbac/support/declared-owner.ts'
import { reachOf, subjectText } from '../rbac/support/subject-reach.ts'

const BINDINGS = [`${RBAC_GROUP}/ClusterRoleBinding`, `${RBAC_GROUP}/RoleBinding`]

/**
 * Whoever may create pods, tokens or Flux objects in a namespace acts as any account of it, so no account there may hold
 * more than the tenant. KnownEvaluation where the right is given and where it is used.
 */
export const saForeign: Rule = {
  id: 'sa-foreign',
  severity: 'critical',
  title: "Account with rights outside the tenant's namespaces",
  why: "Flux impersonates any account that a Kustomization names in its namespace. A pod can use the token of any account of its namespace. The tenant then has its rights in other namespaces, even if the tenant's objects name another account.",
  source:
    'fluxcd/pkg runtime/client/impersonator.go; https://kubernetes.io/docs/concepts/security/rbac-good-practices/',
  docs: "Keep accounts with cluster-wide rights in a platform namespace such as flux-system. Bind the tenant's accounts only with RoleBindings in the tenant's namespaces. Allowed: reading CustomResourceDefinitions, Capsule's self-impersonation and its right to create and patch Namespaces.",
  kinds: [...BINDINGS, ...applierKinds],
  *checkObject(subject, context) {
    if (BINDINGS.includes(subject.kind)) yield* evaluateBinding(context, subject)
    else yield* evaluateUse(context, subject)
  },
}

/** What a tenant binds is the business of rbac-cluster-binding and namespace-confinement. */
function* evaluateBinding(context: RuleContext, { node, object }: Subject): Iterable<Violation> {
  const binding = node.tenant === undefined ? readBinding(object) : undefined
  if (!binding) return
  const rightsOfAll = binding.subjects.map(subject => rightsOf(context, node.cluster, binding, subject))
  for (const [at, subject] of binding.subjects.entries()) {
    const rights = rightsOfAll[at]
    if (rights === undefined) continue
    const { kind, namespace, name, roleRef } = binding
    const same = binding.subjects.filter((_, index) => rightsOfAll[index] === rights)
    const whom = listed(same.map(one => part('identity', subjectText(one))))
    const where =
      namespace === '' ? message`in the whole cluster` : message`in namespace ${quoted('object', namespace)}`
    const unknown = rights === 'unknown'
    yield {
      node,
      object,
      path: ['subjects', at],
      cause: bindingCause(displayRbac(binding)),
      value: `${subjectText(subject)} ${roleRef.kind} ${roleRef.name}${unknown ? '' : `: ${rights}`}`,
      message: unknown
        ? message`${objectPart(kind, namespace, name)} binds ${whom}, of a tenant's namespace, ${where} to ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}, which the fleet does not render. Its rights are unknown. Allowed: rights in the tenant's namespaces.`
        : message`${objectPart(kind, namespace, name)} gives ${whom}, of a tenant's namespace, rights ${where}: ${shownRules(rights)} by ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}. Allowed: rights in the tenant's namespaces. The tenant can act as every account in its namespaces.`,
      fix:
        unknown && isMeantForProxy(context.index, node.cluster, subject)
          ? message`Render ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}, or correct ${part('field', 'roleRef.name')}.`
          : message`Bind an account of a platform namespace, or bind this account with a RoleBinding in the tenant's namespaces.`,
      ...(unknown ? { level: 'warning' as const, severity: 'medium' as const } : {}),
    }
  }
}

/** The rules that are too much, as text; undefined where none are. */
function rightsOf(context: RuleContext, cluster: string, binding: Binding, subject: BoundSubject): string | undefined {
  const { index } = context
  const reach = reachOf(subject)
  if (reach.of !== 'accounts') return undefined
  const tenant = declaredOwner(context, cluster, reach.namespace)
  if (tenant === undefined) return undefined
  // In a namespace of another tenant it is rbac-foreign-subject.
  if (binding.namespace !== '' && declaredOwner(context, cluster, binding.namespace) !== undefined) return undefined
  if (binding.namespace !== '' && index.owns(cluster, tenant, binding.namespace)) return undefined
  const rules = index.roleRules(cluster, binding.roleRef, binding.namespace)
  const ofCapsule = /^capsule-namespace-/.test(binding.roleRef.name) && index.isCapsuleTenant(cluster, tenant)
  if (!rules) return ofCapsule ? undefined : 'unknown'
  const excess = excessRights(rules, index.holder(cluster, tenant))
  return excess.length > 0 ? rulesText(excess) : undefined
}

/** Whether an account lacks the right that Capsule's proxy asks for: the rule capsule-account-rights says which role is missing. */
function isMeantForProxy(index: FleetIndex, cluster: string, { kind, namespace, name }: BoundSubject): boolean {
  if (kind !== 'ServiceAccount' || !index.capsuleHomes(cluster).get(namespace)?.includes(name)) return false
  const user = userOfAccount(namespace, name)
  const self = { verb: 'impersonate', apiGroup: '', resource: 'users', namespace: '', name: user }
  const usesProxy = index
    .nodesIn(cluster, namespace)
    .some(({ identity, kustomization }) => identity.user === user && kubeConfigOf(kustomization) !== undefined)
  return usesProxy && index.refusalOf(cluster, user, self) !== undefined
}

function* evaluateUse(context: RuleContext, { node, object }: Subject): Iterable<Violation> {
  const { kind, namespace, name } = idOf(object)
  const { index } = context
  const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
  if (account === undefined) return
  const declared = declaredOwner(context, node.cluster, namespace)
  const tenant = declared ?? widenedOwner(context, node.cluster, namespace, account)
  if (tenant === undefined || (declared !== undefined && index.actsFor(node, object) === undefined)) return
  for (const { binding, clusterWide, role, rules } of index.rightsOutside(node.cluster, tenant, namespace, account)) {
    yield {
      node: index.nodeOf(node.cluster, object) ?? node,
      renderedBy: node,
      object,
      path: ACCOUNT_FIELD,
      value: `${account} ${binding} ${role}: ${rules}`,
      cause: hashOf(['foreign', namespace, account]),
      follows: bindingCause(binding),
      message: message`${objectPart(kind, namespace, name)} is applied as account ${quoted('object', account)}, which has rights outside the tenant's namespaces: ${shownRules(rules)} by ${clusterWide ? quoted('object', binding) : OF_OTHERS} (${quoted('value', role)}). Allowed: an account with rights only in the tenant's namespaces.`,
      fix: message`Set ${codeWord('spec.serviceAccountName')} to the tenant's reconciler account in namespace ${quoted('object', namespace)}. Ask a fleet admin to move account ${quoted('object', account)} to a platform namespace.`,
    }
  }
}

/**
 * The tenant that follows from a source alone, where the change lets its account out: one that had such rights before may be
 * the platform's own infrastructure, one that gets them is not confined any more.
 */
function widenedOwner(
  { index, before }: RuleContext,
  cluster: string,
  namespace: string,
  account: string,
): string | undefined {
  const tenant = index.ownerOf(cluster, namespace)
  if (tenant === undefined || before?.ownerOf(cluster, namespace) !== tenant) return undefined
  const isUsed = before.reconciler(cluster, namespace, account) !== undefined
  return isUsed && before.reachOutside(cluster, tenant, namespace, account) === undefined ? tenant : undefined
}

/** The tenant reads this: whose the other namespace is stays with the platform. */
const OF_OTHERS = message`a RoleBinding in a foreign namespace`

const shownRules = (rules: string) => quoted('value', rules.length > 70 ? `${rules.slice(0, 70)} ...` : rules)
