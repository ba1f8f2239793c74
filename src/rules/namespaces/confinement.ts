import { codeWord, listed, type Message, message, part } from '../../base/message.ts'
import { lostCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import { sourceKey } from '../../fleet/facts/sources.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { mayCreateNamespace } from '../../fleet/tenancy/capsule.ts'
import { TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { isMisplacedClusterKind } from '../../kube/capabilities/scope.ts'
import { ACCOUNT_FIELD, valuesOf } from '../../kube/flux-kinds.ts'
import { originAt, type Path } from '../../kube/node.ts'
import { isNamespaceName } from '../../kube/object.ts'
import { ownerRemoved } from '../capsule/tenant-owners.ts'
import { accountCause } from '../identity/account-rights.ts'
import {
  type Rule,
  type RuleContext,
  Subject,
  serverAnswer,
  type TenantSubject,
  type Violation,
} from '../model/rule.ts'

const FIELD = ['metadata', 'namespace']

/** Final objects of a tenant are in the tenant's own namespaces: an allow-list, compared exactly. */
export const namespaceConfinement: Rule = {
  id: 'namespace-confinement',
  severity: 'critical',
  title: "Object outside the tenant's namespaces",
  why: 'An object in a namespace that does not belong to the tenant changes what another tenant or the platform runs.',
  docs: 'Set `metadata.namespace` to a namespace of the tenant, or set `namespace` in kustomization.yaml. The label `toolkit.fluxcd.io/tenant` on a Namespace that the platform renders gives the namespace to a tenant.',
  kinds: 'every',
  checkTenantObject: outsideNamespaces,
  checkNode: lostConfinement,
}

function* outsideNamespaces(subject: TenantSubject, context: RuleContext): Iterable<Violation> {
  const { index } = context
  const { object, id, node } = subject
  const { tenant, cluster } = node
  if (index.scopeOf(cluster, id.apiVersion, id.kind) !== 'Namespaced' || object.nullNamespace) return
  const namespace = subject.at(FIELD) === undefined ? '' : subject.text(FIELD)
  // an invalid namespace name cannot be evaluated; the rule invalid-object reports it
  if (namespace === undefined || (namespace !== '' && !isNamespaceName(namespace))) return
  if (keepsNamespace(context, cluster, tenant, namespace)) return
  const own = ownNamespaces(index, cluster, tenant)
  const where = namespace === '' ? message` has no namespace. Tenant` : message`: tenant`
  const answer = namespace === '' ? message` Flux: namespace not specified.` : serverAnswer(index, subject)
  yield subject.violation(FIELD, namespace, {
    message: message`${subject.who}${where} ${quoted('tenant', tenant)} may only deploy to ${own}.${answer}`,
    fix: message`Set metadata.namespace to ${oneOf(index, cluster, tenant)}.`,
    ...allowedNamespaces(index, cluster, tenant, subject.at(FIELD) === undefined ? 'add' : 'set'),
  })
}

/** Fields by which a controller applies to another namespace than the object's own, by kind. */
const FIELDS = valuesOf(row => row.targets)

/** A Kustomization or HelmRelease puts its objects, and Helm its records, into the tenant's own namespaces. */
export const targetNamespace: Rule = {
  id: 'target-namespace',
  severity: 'critical',
  title: "Target namespace outside the tenant's namespaces",
  why: "`spec.targetNamespace` moves all applied objects to another namespace. `spec.storageNamespace` stores a release's values, including secrets, where others can read them.",
  source:
    'HelmRelease and Kustomization APIs of Flux; Flux checks neither field against anything but the rights of the account.',
  docs: 'Remove the field, or set it to a namespace of the tenant.',
  kinds: [...FIELDS.keys()],
  *checkObject(subject, context) {
    const tenant = context.index.actsFor(subject.node, subject.object)
    if (tenant === undefined) return
    for (const path of FIELDS.get(subject.kind) ?? []) yield* foreignTarget(subject, tenant, path, context)
  },
}

function* foreignTarget(subject: Subject, tenant: string, path: Path, context: RuleContext): Iterable<Violation> {
  const field = subject.at(path)
  if (!field || (field.type === 'scalar' && (field.value === null || field.value === ''))) return
  const target = field.type === 'scalar' ? String(field.value) : field.type
  const isText = field.type === 'scalar' && typeof field.value === 'string'
  const { cluster } = subject.node
  if (isText && keepsNamespace(context, cluster, tenant, target)) return
  const { index } = context
  const own = ownNamespaces(index, cluster, tenant)
  const what = path.join('.')
  yield subject.asNode(index).violation(path, target, {
    follows: [lostCause(subject.id.namespace)],
    message: message`${subject.who} has ${part('field', what)} ${quoted('object', target)}. Tenant ${quoted('tenant', tenant)} may only deploy to ${own}. Flux accepts it: only the permissions of the account limit it.`,
    fix: message`Remove ${part('field', what)}, or set it to ${oneOf(index, cluster, tenant)}.`,
    ...allowedNamespaces(index, cluster, tenant, 'set'),
  })
}

/** The namespaces of a tenant as values of a field; of several a person must choose. */
function allowedNamespaces(index: FleetIndex, cluster: string, tenant: string, how: 'add' | 'set') {
  const allowed = index.namespacesOf(cluster, tenant)
  const [only, ...others] = allowed
  if (only === undefined || others.length > 0) return { allowed }
  return { allowed, edit: how === 'add' ? { add: only } : { set: only } }
}

/** Cluster-scoped objects are the platform's, whatever namespace a tenant writes into them. */
export const clusterScopedForbidden: Rule = {
  id: 'cluster-scoped-forbidden',
  severity: 'critical',
  title: 'Cluster-scoped object in tenant content',
  why: 'A ClusterRoleBinding, a webhook configuration, a PriorityClass or a CustomResourceDefinition changes the cluster for all tenants. Kubernetes ignores `metadata.namespace` of a cluster-scoped object.',
  docs: 'Ask a fleet admin to add the object to the fleet repository.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    const { node, id } = subject
    const scope = index.scopeOf(node.cluster, id.apiVersion, id.kind)
    if (scope !== 'Cluster' && (scope !== undefined || !isMisplacedClusterKind(id.apiVersion, id.kind))) return
    // the rule namespace-ownership decides who may write a Namespace
    if (subject.kind === '/Namespace') return
    const who = objectPart(id.kind, '', id.name)
    yield subject.violation(['kind'], id.kind, {
      isMalformed: true,
      message: message`${who} is cluster-scoped, but ${identityPart(node.identity)} applies it for a tenant. Allowed: objects in the tenant's namespaces.${serverAnswer(index, subject)}`,
      fix: message`Remove ${who} from this repository, or ask a fleet admin to add it to the fleet repository.`,
    })
  },
}

/**
 * A node that acted for a tenant before a change and would act for the platform after it: a lost label, or a
 * Kustomization moved out of the tenant's namespace, would silently free the tenant of every rule.
 */
function* lostConfinement(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before } = context
  if (!before) return
  // a node that is a tenant's only because it was before the change has lost its tenant
  const former = index.cluster(node.cluster)?.formerOwners?.get(node.namespace)
  if ((node.tenant !== undefined && former === undefined) || node.parent === undefined) return
  const was = before.node(node.key)
  const known = new Set(was && keysOf(was))
  const author = keysOf(node).find(key => !known.has(key) && before.authorOf(key) !== undefined)
  const tenant = was?.tenant ?? (author === undefined ? undefined : before.authorOf(author))
  if (tenant === undefined || ownerRemoved(context, node.cluster, tenant)) return
  const found = violation(node, tenant, was?.tenant !== undefined, index)
  if (!was || !before.cluster(node.cluster)?.delegates?.has(was.identity.user)) return yield found
  const fix = message`Set ${codeWord('spec.serviceAccountName')} to an account with rights only in the namespaces of tenant ${quoted('tenant', tenant)}, or remove its other rights.`
  const origin = originAt(node.kustomization.root, ACCOUNT_FIELD)
  const follows = [origin, undefined].map(place => accountCause(node.identity.user, place))
  yield { ...found, object: node.kustomization, path: ACCOUNT_FIELD, fix, follows }
}

/** The source of a node, and the sources that it includes. */
const keysOf = ({ source }: FleetNode): string[] => [source, ...(source.includes ?? [])].map(sourceKey)

function violation(node: FleetNode, tenant: string, stayed: boolean, index: FleetIndex): Violation {
  const label = stayed ? index.platformObject(node.cluster, '/Namespace', '', node.namespace) : undefined
  const who = objectPart('Kustomization', node.namespace, node.name)
  const what = stayed ? 'it acted for' : 'what it follows belonged to'
  const path = label ? TENANT_LABEL : ['spec', 'sourceRef']
  const subject = new Subject({ node, object: label ?? node.kustomization })
  return subject.violation(path, `unconfined ${node.namespace}/${node.name} ${tenant}`, {
    message: message`${who} would become the platform's, applied by ${identityPart(node.identity)}. Before this change ${what} tenant ${quoted('tenant', tenant)}, and no tenancy rule would apply to it. Allowed: a namespace with the tenant's label toolkit.fluxcd.io/tenant, or an account that may write in the tenant's namespaces only. Flux accepts it.`,
    fix: message`Keep the label toolkit.fluxcd.io/tenant: ${quoted('tenant', tenant)} on the namespace of the Kustomization, or remove the tenant in a separate change.`,
  })
}

/**
 * Whether a namespace is the tenant's own, or was before the change and the tenant still creates it with Capsule while
 * another tenant claims it too: it has no owner now, but the first one is not at fault. The same where the platform
 * takes the Capsule Tenant from its owner.
 */
export function keepsNamespace(context: RuleContext, cluster: string, tenant: string, namespace: string): boolean {
  const { index, before } = context
  if (index.owns(cluster, tenant, namespace)) return true
  if (!before?.owns(cluster, tenant, namespace) || index.ownerOf(cluster, namespace) !== undefined) return false
  if (ownerRemoved(context, cluster, tenant)) return true
  return claimants(index, cluster, namespace).includes(tenant)
}

/** The tenants that create a namespace with Capsule, sorted; of several, Capsule gives it to the first. None where the platform writes it. */
export function claimants(index: FleetIndex, cluster: string, namespace: string): string[] {
  const versions = index.versionsOf(cluster, '/Namespace', '', namespace)
  const owners = index.capsuleOwners(cluster)
  const tenants = versions.flatMap(({ node }) =>
    node.tenant !== undefined && mayCreateNamespace(node.identity, namespace, owners) ? [node.tenant] : [],
  )
  return versions.every(({ node }) => node.tenant !== undefined) ? [...new Set(tenants)].sort() : []
}

/** The namespaces of a tenant on a cluster, as a message lists them; `none` if there are none. */
export function ownNamespaces(index: FleetIndex, cluster: string, tenant: string): Message {
  const own = index.namespacesOf(cluster, tenant)
  return own.length === 0 ? message`no namespace` : listed(own.map(name => quoted('object', name)))
}

/** The same as the value of a field. */
function oneOf(index: FleetIndex, cluster: string, tenant: string): Message {
  const own = ownNamespaces(index, cluster, tenant)
  return index.namespacesOf(cluster, tenant).length === 1 ? own : message`one of: ${own}`
}
