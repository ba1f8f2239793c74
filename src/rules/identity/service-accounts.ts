import { codeWord, listed, type Message, message, part } from '../../base/message.ts'
import { isDeclaredAccount } from '../../fleet/config/declared-settings.ts'
import { excessRights, rulesText } from '../../fleet/facts/cluster-rights.ts'
import { hashOf, objectCause, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { namespacePart, objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import {
  accountOf,
  applierKinds,
  fallbackAccount,
  isBlank,
  kubeConfigOf,
  misspelled,
} from '../../fleet/model/kustomization-spec.ts'
import { ACCOUNT_FIELD, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { originAt, stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP, readBinding } from '../../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { capsuleObjects, ownerCause, selfRole, TENANT } from '../capsule/capsule-users.ts'
import { lackingCause } from '../capsule/tenant-owners.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { bindingCause, declaredOwner, ownerOfSubject, reachOf, subjectText } from '../rbac/binding-subjects.ts'
import { escapeBy } from '../rbac/escalation.ts'
import { lostDefaultAccount } from './default-account.ts'

/** An object of Flux for a tenant must name its account, or it acts as the controller. */
export const saRequired: Rule = {
  id: 'sa-required',
  severity: 'critical',
  title: 'Missing service account',
  why: 'Flux applies a Kustomization, HelmRelease or ResourceSet without a service account as the controller itself, which is cluster-admin. With a default account that the fleet does not render, its rights are unknown. With only `kubeConfig`, Flux acts as the user of that kubeconfig.',
  source: 'https://fluxcd.io/flux/installation/configuration/multitenancy/; CVE-2026-23990',
  docs: "Set `spec.serviceAccountName` to the tenant's reconciler account, in the object or in a patch of the Kustomization that renders it. The field may be absent only where the cluster sets `--default-service-account`. The fleet must render that account in the namespace, with a visible role, or list it under `accounts` in .github/bailiwick.yaml. Where the label of the namespace is all that the cluster has of a tenant, the finding is a warning.",
  kinds: applierKinds,
  *checkObject(subject, context) {
    const violation = withoutAccount(subject, context)
    if (violation) yield { ...violation, ...(meantAs(subject, context) ?? named(subject, context)) }
  },
}

/** Whether this rule blocks an object that acts for a tenant: its account is not known. */
export const lacksAccount = (subject: Subject, context: RuleContext): boolean =>
  withoutAccount(subject, context) !== undefined

/** A key that was probably meant to name the account is the cause, and no other rule reports it. */
function meantAs(subject: Subject, context: RuleContext): Partial<Violation> | undefined {
  const path = misspelled(subject.object, ACCOUNT_FIELD)
  if (path?.length !== ACCOUNT_FIELD.length) return undefined
  const account = subject.text(path)
  const isCertain = account !== undefined && isKnown(context, subject.node.cluster, subject.id.namespace, account)
  return {
    path,
    isMalformed: true,
    message: message`${subject.who}: Flux has no field ${quoted('field', path.join('.'))}, so no service account is named. Allowed: ${codeWord('serviceAccountName')}.`,
    fix: message`Rename it to ${codeWord('serviceAccountName')}.`,
    ...(isCertain ? { edit: { rename: 'serviceAccountName' } } : {}),
  }
}

/** The account of the namespace, where the platform acts there as one account only, or renders one only. */
function named(subject: Subject, { index, config }: RuleContext): Pick<Violation, 'edit'> {
  const { namespace } = subject.id
  const { cluster } = subject.node
  const candidates = [soleReconciler(index, cluster, namespace), soleAccount(index, cluster, namespace)]
  const name = candidates.find(one => one !== undefined && isKnown({ index, config }, cluster, namespace, one))
  if (name === undefined) return {}
  return { edit: subject.at(ACCOUNT_FIELD) === undefined ? { add: name } : { set: name } }
}

function withoutAccount(subject: Subject, context: RuleContext): Violation | undefined {
  const { index } = context
  const { object, node, who } = subject
  const { namespace } = subject.id
  // the rule invalid-object reports an invalid name
  if (index.actsFor(node, object) === undefined || !isBlank(subject.at(ACCOUNT_FIELD))) return undefined
  const written = subject.text(ACCOUNT_FIELD) ?? ''
  const account = fallbackAccount(object, index.cluster(node.cluster)?.lockdown)
  const isRendered = account !== undefined && isKnown(context, node.cluster, namespace, account)
  if (written === '' && isRendered && mayApply(context, node.cluster, namespace, account)) return undefined
  const isElsewhere = kubeConfigOf(object) !== undefined
  const config = isElsewhere ? message` for the cluster of its kubeConfig` : message``
  const given = written === '' ? message`` : message` (${quoted('value', written)})`
  const isPlatforms = node.tenant === undefined && account === undefined && !isElsewhere
  const owner = index.ownerOf(node.cluster, namespace)
  const isAlone = isPlatforms && owner !== undefined && index.isLabelAlone(node.cluster, namespace)
  const set = message`Set ${codeWord('spec.serviceAccountName')} to the reconciler account of ${namespacePart(namespace)}`
  return subject.asNode(index).violation(ACCOUNT_FIELD, written, {
    ...defaultCause(context, node.cluster, namespace, account),
    message: message`${who} sets no serviceAccountName${given}${config}. ${asWhom(account, namespace, isElsewhere, isRendered)}. Allowed: an account in its own namespace.`,
    ...(isAlone ? { level: 'warning' } : {}),
    fix: isAlone
      ? message`${set}. If tenant ${part('tenant', owner)} is the platform, list it with ${codeWord('platform: true')} in ${codeWord('.github/bailiwick.yaml')}.`
      : message`${set}.`,
  })
}

/** The flag that names the default account, or the account that a change removes, is the cause of each object without one. */
function defaultCause(
  { index, before }: RuleContext,
  cluster: string,
  namespace: string,
  account: string | undefined,
): Pick<Violation, 'cause' | 'follows'> {
  const was = account === undefined ? undefined : before?.platformObject(cluster, '/ServiceAccount', namespace, account)
  const follows = [was && objectCause(idOf(was)), lostDefaultAccount(cluster, index, before)].filter(
    one => one !== undefined,
  )
  if (follows.length === 0) return {}
  return { cause: hashOf(['default account', namespace, placeText(was?.root.origin), ...follows]), follows }
}

function isKnown(
  { index, config }: Pick<RuleContext, 'index' | 'config'>,
  cluster: string,
  namespace: string,
  name: string,
): boolean {
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  return (
    index.platformObject(cluster, '/ServiceAccount', namespace, name) !== undefined ||
    isDeclaredAccount(config, { cluster, namespace, name, ofTenant })
  )
}

/** Whether the account has a role, or may have one that is not visible: rendering the account gives it no rights. */
function mayApply({ index, config }: RuleContext, cluster: string, namespace: string, name: string): boolean {
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  const user = userOfAccount(namespace, name)
  const request = { verb: 'patch', apiGroup: '', resource: 'configmaps', namespace, name: '' }
  return (
    isDeclaredAccount(config, { cluster, namespace, name, ofTenant }) ||
    index.holdsRoles(cluster, user) ||
    index.unseenGrants(cluster, userInfo(user), request, { ofTenants: true }).length > 0
  )
}

function asWhom(account: string | undefined, namespace: string, elsewhere: boolean, isRendered: boolean): Message {
  if (account) {
    const what = isRendered ? message`which has no visible role` : message`which the fleet does not render`
    return message`Flux would use the default account ${quoted('object', account)}, ${what} in ${namespacePart(namespace)}`
  }
  return elsewhere
    ? message`Flux would apply it as the user of the kubeconfig, without impersonation`
    : message`Flux would apply it as the controller itself (cluster-admin)`
}

/** The only account as which the platform has Flux act in a namespace; undefined where there is none, or several. */
function soleReconciler(index: FleetIndex, cluster: string, namespace: string): string | undefined {
  const lockdown = index.cluster(cluster)?.lockdown
  const accounts = new Set<string>()
  for (const kind of applierKinds) {
    for (const { object } of index.platformRendered(cluster, kind, namespace)) {
      const account = accountOf(object, lockdown)
      if (account) accounts.add(account)
    }
  }
  const [only] = accounts
  return accounts.size === 1 ? only : undefined
}

/** The only account that the platform renders in a namespace; undefined where there is none, or several. */
function soleAccount(index: FleetIndex, cluster: string, namespace: string): string | undefined {
  const rendered = index.platformRendered(cluster, '/ServiceAccount', namespace)
  const names = new Set(rendered.map(({ object }) => idOf(object).name).filter(name => name !== 'default'))
  const [only] = names
  return names.size === 1 ? only : undefined
}

const BINDINGS = [`${RBAC_GROUP}/ClusterRoleBinding`, `${RBAC_GROUP}/RoleBinding`]

/**
 * A user who can create pods, tokens or Flux objects in a namespace can act as any account of it, so no account there
 * may hold more rights than the tenant. Reported where the right is given and where it is used.
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
    if (BINDINGS.includes(subject.kind)) yield* foreignBinding(subject, context)
    else yield* foreignUse(subject, context)
  },
}

/** The rules rbac-cluster-binding and namespace-confinement report a tenant's bindings. */
function* foreignBinding(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { node, object } = subject
  const binding = node.tenant === undefined ? readBinding(object) : undefined
  if (!binding) return
  const { kind, namespace, name, roleRef } = binding
  const who = objectPart(kind, namespace, name)
  const rightsOfAll = binding.subjects.map(bound => rightsOf(context, node.cluster, binding, bound))
  for (const [at, bound] of binding.subjects.entries()) {
    const rights = rightsOfAll[at]
    if (rights === undefined) continue
    const same = binding.subjects.filter((_, index) => rightsOfAll[index] === rights)
    const whom = listed(same.map(one => part('identity', subjectText(one))))
    const where =
      namespace === '' ? message`in the whole cluster` : message`in namespace ${quoted('object', namespace)}`
    const unknown = rights === 'unknown'
    const value = `${subjectText(bound)} ${roleRef.kind} ${roleRef.name}${unknown ? '' : `: ${rights}`}`
    const isForProxy = isMeantForProxy(context.index, node.cluster, bound)
    yield subject.violation(['subjects', at], value, {
      cause: bindingCause(displayRbac(binding)),
      follows: leadersOf(context, node.cluster, binding, bound),
      message: unknown
        ? message`${who} binds ${whom}, of a tenant's namespace, ${where} to ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}. The fleet does not render that role, so its rights are unknown. Allowed: rights in the tenant's namespaces.`
        : message`${who} gives ${whom}, of a tenant's namespace, rights ${where}. They are ${shownRules(rights)} by ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}. Allowed: rights in the tenant's namespaces. The tenant can act as every account in its namespaces.`,
      fix:
        unknown && isForProxy
          ? message`Render ${part('value', roleRef.kind)} ${quoted('object', roleRef.name)}, or correct ${part('field', 'roleRef.name')}.`
          : message`Bind an account of a platform namespace, or bind this account with a RoleBinding in the tenant's namespaces.`,
      ...(unknown ? { level: 'warning', severity: 'medium' } : {}),
    })
  }
}

/** The rules that exceed the tenant's rights, as text; undefined for none. */
function rightsOf(context: RuleContext, cluster: string, binding: Binding, bound: BoundSubject): string | undefined {
  const { index } = context
  const tenant = ownerOfSubject(context, cluster, bound)
  if (tenant === undefined) return undefined
  // the rule rbac-foreign-subject reports one in another tenant's namespace
  if (binding.namespace !== '' && declaredOwner(context, cluster, binding.namespace) !== undefined) return undefined
  if (binding.namespace !== '' && index.owns(cluster, tenant, binding.namespace)) return undefined
  const rules = index.roleRules(cluster, binding.roleRef, binding.namespace)
  const ofCapsule = /^capsule-namespace-/.test(binding.roleRef.name) && index.isCapsuleTenant(cluster, tenant)
  if (!rules) return ofCapsule ? undefined : 'unknown'
  const excess = excessRights(rules, index.holder(cluster, tenant))
  return excess.length > 0 ? rulesText(excess) : undefined
}

/**
 * What other rules report of a binding that gives too much: a right to escape by its role, a right of the account that the
 * role misspells, or that the binding was moved out of the account's own namespace.
 */
function leadersOf(context: RuleContext, cluster: string, binding: Binding, bound: BoundSubject): string[] {
  const { index, before } = context
  const found = escapeBy(context, cluster, binding, bound)
  const reach = reachOf(bound)
  const home = reach.of === 'accounts' ? reach.namespace : ''
  const at = [`${RBAC_GROUP}/RoleBinding`, home, binding.name] as const
  const was = before?.versionsOf(cluster, ...at).at(-1)
  const moved = was && index.versionsOf(cluster, ...at).length === 0 ? [objectCause(idOf(was.object))] : []
  const user = userOfAccount(bound.namespace, bound.name)
  const meant = isMeantForProxy(index, cluster, bound) ? selfRole(index, cluster, user) : undefined
  const isMisspelled = meant !== undefined && idOf(meant.object).name === binding.roleRef.name
  const misspelled = isMisspelled ? [lackingCause('impersonate', user)] : []
  return [...(found?.isAll ? [found.cause] : []), ...misspelled, ...moved]
}

/** Whether an account lacks the right that Capsule's proxy requires: capsule-account-rights names the missing role. */
function isMeantForProxy(index: FleetIndex, cluster: string, { kind, namespace, name }: BoundSubject): boolean {
  if (kind !== 'ServiceAccount' || !index.capsuleHomes(cluster).get(namespace)?.includes(name)) return false
  const user = userOfAccount(namespace, name)
  const self = { verb: 'impersonate', apiGroup: '', resource: 'users', namespace: '', name: user }
  const usesProxy = index
    .nodesIn(cluster, namespace)
    .some(({ identity, kustomization }) => identity.user === user && kubeConfigOf(kustomization) !== undefined)
  return usesProxy && index.refusalOf(cluster, user, self) !== undefined
}

function* foreignUse(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { node, object } = subject
  const { namespace } = idOf(object)
  const { index } = context
  const account = accountOf(object, index.cluster(node.cluster)?.lockdown)
  if (account === undefined) return
  const declared = declaredOwner(context, node.cluster, namespace)
  const tenant = declared ?? widenedOwner(context, node.cluster, namespace, account)
  if (tenant === undefined || (declared !== undefined && index.actsFor(node, object) === undefined)) return
  const owned = capsuleObjects(index, node.cluster, TENANT).map(({ object: { root } }) =>
    ownerCause(stringAt(root, ['metadata', 'name']) ?? '', `ServiceAccount ${userOfAccount(namespace, account)}`),
  )
  for (const { binding, clusterWide, role, rules } of index.rightsOutside(node.cluster, tenant, namespace, account)) {
    yield subject.asNode(index).violation(ACCOUNT_FIELD, `${account} ${binding} ${role}: ${rules}`, {
      cause: hashOf(['foreign', namespace, account]),
      follows: [bindingCause(binding), ...owned],
      message: message`${whoOf(object)} is applied as account ${quoted('object', account)}, which has rights outside the tenant's namespaces. It has ${shownRules(rules)} by ${clusterWide ? quoted('object', binding) : OF_OTHERS} (${quoted('value', role)}). Allowed: an account with rights only in the tenant's namespaces.`,
      fix: message`Set ${codeWord('spec.serviceAccountName')} to the tenant's reconciler account in namespace ${quoted('object', namespace)}. Ask a fleet admin to move account ${quoted('object', account)} to a platform namespace.`,
    })
  }
}

/**
 * The tenant known from a source alone, where the change gives its account wider rights: an account that had them
 * before may be the platform's own infrastructure, one that gets them is no longer confined.
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

/** A tenant reads this message, so it does not name the owner of the other namespace. */
const OF_OTHERS = message`a RoleBinding in a foreign namespace`

const shownRules = (rules: string) => quoted('value', rules.length > 70 ? `${rules.slice(0, 70)} ...` : rules)

/** ConfigMaps that Kubernetes creates in every namespace, for every pod to read. */
const MADE_FOR_ALL = ['kube-root-ca.crt', 'openshift-service-ca.crt']

/** Roles that a tenant never means to give to all accounts of its namespace. */
const WIDE = ['cluster-admin', 'admin', 'edit']
/** Capsule gives these to all accounts of a namespace, and its admission confines them. */
const OF_CAPSULE = /^capsule-namespace-/
const READS = ['get', 'list', 'watch']

/** The account of objects that name none has no rights. */
export const defaultSaPrivileged: Rule = {
  id: 'default-sa-privileged',
  severity: 'high',
  level: 'warning',
  title: 'Rights of the `default` service account',
  why: 'A pod that names no account runs as `default`. A locked-down Flux uses `default` where an object names no account. Rights of `default` are rights of every such pod. A replaced certificate authority in `kube-root-ca.crt` affects every pod too.',
  source: 'https://fluxcd.io/flux/installation/configuration/multitenancy/',
  docs: 'Create a separate account for each workload that needs rights. Do not change `default` and `kube-root-ca.crt`. Rights to write are a violation. Rights to read are a warning. The namespace of Flux counts too, where its controllers use `default` for an object without an account.',
  kinds: [`${RBAC_GROUP}/RoleBinding`, `${RBAC_GROUP}/ClusterRoleBinding`, '/ConfigMap', '/Secret'],
  *checkObject(subject, context) {
    if (subject.id.kind.endsWith('Binding')) yield* defaultBinding(subject, context)
    else if (subject.node.tenant !== undefined && MADE_FOR_ALL.includes(subject.id.name)) yield stand(subject)
  },
}

function* defaultBinding(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { node, object, id } = subject
  const binding = readBinding(object)
  if (!binding) return
  const role = binding.roleRef.name
  const rules = context.index.roleRules(node.cluster, binding.roleRef, binding.namespace)
  const writes = !rules?.every(({ verbs }) => verbs.every(verb => READS.includes(verb)))
  const isWide = node.tenant === undefined ? writes && !OF_CAPSULE.test(role) : WIDE.includes(role)
  // the rule sa-foreign reports a group's cluster-wide rights
  const ofAll = id.kind === 'RoleBinding' && isWide
  for (const [at, bound] of binding.subjects.entries()) {
    const namespace = defaultOf(bound, ofAll)
    if (namespace === undefined) continue
    const isTenants = declaredOwner(context, node.cluster, namespace) !== undefined
    if (!isTenants && !(writes && isFlux(context, node, namespace))) continue
    yield subject.violation(['subjects', at], `${subjectText(bound)} ${role}`, {
      // kustomize's namespace writes into a subject `default`, which is not what gives it the role
      origin: originAt(object.root, ['subjects', at]),
      follows: [bindingCause(displayRbac(binding))],
      message: message`${objectPart(id.kind, binding.namespace, id.name)} grants ${quoted('value', role)} to ${quoted('identity', subjectText(bound))}. Every pod and Flux object of namespace ${quoted('object', namespace)} without its own account gets it. Allowed: accounts other than "default".`,
      fix: message`Bind a separate account, and set ${codeWord('serviceAccountName')} to it where the rights are needed.`,
      ...(writes ? { level: 'violation' } : {}),
    })
  }
}

/** Whether it is Flux's namespace, and Flux acts as `default` where an object there names no account. */
function isFlux({ index }: RuleContext, { cluster }: FleetNode, namespace: string): boolean {
  const { defaultServiceAccount, helmDefaultServiceAccount } = index.cluster(cluster)?.lockdown ?? {}
  const isUsed = [defaultServiceAccount, helmDefaultServiceAccount].includes('default')
  return isUsed && namespace === (index.rootOf(cluster)?.namespace ?? ROOT_NAMESPACE)
}

/** The namespace whose account `default` a subject means, by name or, with `ofAll`, as one of all its accounts. */
function defaultOf(bound: BoundSubject, ofAll: boolean): string | undefined {
  const reach = reachOf(bound)
  if (reach.of !== 'accounts') return undefined
  return reach.name === 'default' || (ofAll && reach.name === undefined) ? reach.namespace : undefined
}

function stand(subject: Subject): Violation {
  return subject.violation(['metadata', 'name'], subject.id.name, {
    message: message`${subject.who} replaces an object that Kubernetes creates in every namespace, and every pod trusts its content. Allowed: another name.`,
    fix: message`Rename the object.`,
  })
}
