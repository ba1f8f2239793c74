import { asMessage, capital, codeWord, listed, type Message, message, part, untyped } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { memberSettings } from '../../fleet/config/declared-settings.ts'
import { lostCause, objectCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { CAPSULE_GROUP, CAPSULE_LABEL, mayCreateNamespace } from '../../fleet/tenancy/capsule.ts'
import { declaredIn, TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { ACCOUNT_FIELD, GIT_REPOSITORY, HELM_RELEASE, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, itemsOf, originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { namespaceAnswer } from '../capsule/capsule-denied.ts'
import { namesOf, tenantsOwnedBy } from '../capsule/capsule-users.ts'
import { ownerRemoved } from '../capsule/tenant-owners.ts'
import { accountCause } from '../identity/account-rights.ts'
import { lostDefaultAccount } from '../identity/default-account.ts'
import { type Rule, type RuleContext, Subject, serverAnswer, type Violation } from '../model/rule.ts'
import { claimants, keepsNamespace, ownNamespaces } from './confinement.ts'
import { TENANT_KEYS } from './namespace-guards.ts'

/** The platform decides who owns a namespace, or Capsule where the tenant may create it; no one takes another's. */
export const namespaceOwnership: Rule = {
  id: 'namespace-ownership',
  severity: 'critical',
  title: 'Namespace claimed by a tenant',
  why: 'The Namespace object, its tenant label and its ownerReferences decide which tenant owns the namespace. A tenant that writes them can take a namespace of another tenant or of Kubernetes. It can also leave its own limits.',
  source: 'CVE-2024-39690, CVE-2025-55205, CVE-2022-46167 of Capsule; flux create tenant',
  docs: 'Render the Namespace with `toolkit.fluxcd.io/tenant` in the fleet repository. With Capsule, an account that owns a Tenant may create unowned Namespaces, without ownerReferences and with its own tenant label. To move a namespace to another tenant, waive the rule for that Namespace or merge with an override.',
  kinds: [
    '/Namespace',
    '/ServiceAccount',
    'rbac.authorization.k8s.io/RoleBinding',
    HELM_RELEASE,
    KUSTOMIZATION,
    GIT_REPOSITORY,
  ],
  checkNode: forbiddenCluster,
  *checkObject(subject, context) {
    const { kind, node } = subject
    if (kind === HELM_RELEASE) yield* createdByHelm(subject, context)
    if (node.tenant === undefined) {
      if (kind === '/Namespace') yield* movedNamespace(subject, context)
      else yield* givenTwice(subject, context)
    } else if (kind === '/Namespace') yield* writtenNamespace(subject, node.tenant, context)
  },
}

/** A Namespace that a tenant writes: Capsule must let the tenant create it, and it must stay the tenant's. */
function* writtenNamespace(subject: Subject, tenant: string, context: RuleContext): Iterable<Violation> {
  const { index } = context
  const { object, id, node } = subject
  const who = message`${objectPart('Namespace', '', id.name)} is written by ${identityPart(node.identity)}`
  const isSame = context.before?.node(node.key)?.identity.user === node.identity.user
  const flag = isSame ? undefined : lostDefaultAccount(node.cluster, index, context.before)
  const owner = subject.text(['metadata', 'labels', CAPSULE_LABEL]) ?? tenant
  const gone = objectCause({ kind: 'Tenant', namespace: '', name: owner })
  const follows = [...(flag ? [flag] : []), newOwnerCause(node.namespace), gone]
  const violation = (path: Path, value: string, problem: string | Message, fix: string | Message): Violation =>
    subject.violation(path, value, { follows, message: asMessage(problem), fix: asMessage(fix) })
  const own = keepsNamespace(context, node.cluster, tenant, id.name)
  const claims = own ? [] : claimants(index, node.cluster, id.name)
  if (claims.length > 1 && claims.includes(tenant)) {
    const first = context.before?.ownerOf(node.cluster, id.name)
    const why =
      first === undefined
        ? message`tenants ${listed(claims.map(name => quoted('tenant', name)))} declare it, and Capsule gives it to the one that creates it first`
        : message`tenant ${quoted('tenant', first)} had it before this change`
    const problem = message`${who}. ${capital(why)}. Allowed: one tenant for each namespace. Capsule refuses the request of any other tenant.`
    const fix = message`Rename the Namespace, or name its owner in ${codeWord('tenants[].namespaces')} of .github/bailiwick.yaml.`
    yield violation(['metadata', 'name'], id.name, problem, fix)
  } else if (!own || !(mayWrite(subject, index) || ownerRemoved(context, node.cluster, tenant))) {
    const why = own
      ? 'only the platform writes the Namespaces of tenants, because a writer can relabel or delete them'
      : 'the namespace does not belong to the tenant'
    const allowed = ownNamespaces(index, node.cluster, tenant)
    const problem = message`${who}. ${capital(why)}. Tenant ${quoted('tenant', tenant)} may only deploy to ${allowed}.${serverAnswer(index, subject)}`
    const fix = message`Remove the Namespace, or ask a fleet admin to add it to the fleet repository.`
    yield { ...violation(['metadata', 'name'], id.name, problem, fix), ...otherAccount(subject, context) }
  }
  for (const key of TENANT_KEYS) {
    const path = ['metadata', 'labels', key]
    const label = subject.at(path)
    const text = subject.text(path)
    const names = namesFor(key, tenant, subject, index)
    if (!label || (text !== undefined && names.includes(text))) continue
    const allowed = listed(
      names.map(name => quoted('tenant', name)),
      ' or ',
    )
    const problem = message`${who}, and its label ${part('field', key)} gives it to ${quoted('tenant', text ?? label.type)}. Allowed: ${allowed}.`
    const fix = message`Set the label ${part('field', key)} to ${allowed}, or remove it.`
    yield violation(path, `${key}=${text ?? label.type}`, problem, fix)
  }
  const owners = subject.at(['metadata', 'ownerReferences']) ?? object.owners
  if (owners) {
    const problem = message`${who} with ownerReferences, from which Capsule derives the namespace's owner. Allowed: none, because Capsule writes them.`
    const found = violation(
      ['metadata', 'ownerReferences'],
      'ownerReferences',
      problem,
      message`Remove metadata.ownerReferences.`,
    )
    yield object.owners ? { ...found, origin: object.owners.origin } : found
  }
}

/** The account line of a Kustomization is the one to edit where the account of before may write the Namespace. */
function otherAccount({ id, node }: Subject, { index, before }: RuleContext): Partial<Violation> {
  const account = at(node.kustomization.root, ACCOUNT_FIELD)
  const was = before?.node(node.key)?.identity
  if (!account || !was || was.user === node.identity.user) return {}
  if (!mayCreateNamespace(was, id.name, index.capsuleOwners(node.cluster))) return {}
  return {
    origin: account.origin,
    cause: accountCause(node.identity.user, account.origin),
    leads: [lostCause(node.namespace)],
    fix: message`Set spec.serviceAccountName to ${part('identity', accountOf(was.user)?.name ?? was.user)}, as before this change.`,
  }
}

/** That another tenant owns a namespace: what its account then writes elsewhere follows. */
const newOwnerCause = (namespace: string) => objectCause({ kind: 'owner', namespace, name: '' })

/** Only Capsule lets a tenant write a Namespace, and only one that the platform does not write. */
function mayWrite({ id, node }: Subject, index: FleetIndex): boolean {
  if (index.platformObject(node.cluster, '/Namespace', '', id.name) !== undefined) return false
  return mayCreateNamespace(node.identity, id.name, index.capsuleOwners(node.cluster))
}

/** Allowed values of an owner label in this tenant's Namespaces. */
function namesFor(key: string, tenant: string, { node }: Subject, index: FleetIndex): string[] {
  if (key === TENANT_KEYS[0]) return [tenant]
  const owned = namesOf(tenantsOwnedBy(index, node.cluster, node.identity))
  return owned.length > 0 ? owned : [tenant]
}

/** What in a Namespace states its owner. */
interface Claim {
  readonly path: Path
  /** The label, or `ownerReferences`. */
  readonly key: string
  /** The tenant that it names, or for another value its type. */
  readonly to: string
}

/**
 * A Namespace of the platform whose label or ownerReference gives its content to another tenant than its owner, whether
 * or not it had an owner before, and however that one was known.
 */
function* movedNamespace(subject: Subject, context: RuleContext): Iterable<Violation> {
  const { id, node } = subject
  const { index, before } = context
  const claims = claimsOf(subject)
  let isReported = false
  for (const claim of claims) {
    const from = formerOwner(subject, claim, context)
    if (from === undefined) continue
    isReported = true
    yield violation(subject, claim, from, context)
  }
  const [was, is] = [before?.ownerOf(node.cluster, id.name), index.ownerOf(node.cluster, id.name)]
  if (
    !isReported &&
    before &&
    was !== undefined &&
    is !== undefined &&
    was !== is &&
    !isRenamed(was, is, node.cluster, context)
  ) {
    const left = claims.find(({ to }) => to === is) ?? { path: ['metadata', 'name'], key: 'name', to: is }
    yield violation(subject, left, { tenant: was }, context)
  } else if (!isReported) yield* refusedByCapsule(subject, claims, context)
}

function claimsOf({ object }: Subject): Claim[] {
  const labels = TENANT_KEYS.flatMap((key): Claim[] => {
    const path = ['metadata', 'labels', key]
    const label = at(object.root, path)
    return label ? [{ path, key, to: stringAt(object.root, path) ?? label.type }] : []
  })
  const references = itemsOf(at(object.root, ['metadata', 'ownerReferences'])).flatMap((one, place): Claim[] => {
    const isTenant =
      groupOf(stringAt(one, ['apiVersion']) ?? '') === CAPSULE_GROUP && stringAt(one, ['kind']) === 'Tenant'
    const path = ['metadata', 'ownerReferences', place, 'name']
    return isTenant ? [{ path, key: 'ownerReferences', to: stringAt(one, ['name']) ?? '' }] : []
  })
  return [...labels, ...references]
}

/** The owner that loses a Namespace by a claim: a tenant, or the platform with a reason; undefined: none. */
type Loser = { readonly tenant: string } | { readonly platform: Message }

function formerOwner(subject: Subject, claim: Claim, context: RuleContext): Loser | undefined {
  const { id, node } = subject
  const { index, before, config } = context
  const { cluster } = node
  const isEmpty = claim.to === ''
  const isPlatforms = isEmpty || declaredIn(config, cluster).platformTenants.has(claim.to)
  if (!isPlatforms && (RESERVED.test(id.name) || index.rootOf(cluster)?.namespace === id.name))
    return { platform: message`Kubernetes, Flux or Capsule runs there` }
  const living = isOfCapsule(claim) && !isEmpty ? index.capsuleTenantsIn(cluster, id.name) : []
  // the account's owner owns the namespace: another Tenant's namespace is not this one's
  if (living.length > 0) return living.includes(claim.to) ? undefined : { tenant: living[0]! }
  const named = isOfCapsule(claim) ? nameOf(index, cluster, claim.to) : undefined
  const now = index.ownerOf(cluster, id.name)
  if (named !== undefined && now !== undefined && named !== now) return { tenant: now }
  if (!before) return undefined
  const known = before.versionsOf(cluster, '/Namespace', '', id.name)
  const earlier = before.platformObject(cluster, '/Namespace', '', id.name)
  // a version that existed before the change takes nothing away
  if (known.some(one => stringAt(one.object.root, claim.path) === claim.to)) return undefined
  const was = (earlier && stringAt(earlier.root, claim.path)) || undefined
  if (was !== undefined || isEmpty) return was === undefined ? undefined : { tenant: was }
  const owner = before.ownerOf(cluster, id.name)
  if (owner === undefined)
    return isPlatforms ? undefined : runsThere(before, cluster, id.name) && runsThere(index, cluster, id.name)
  const to = named ?? claim.to
  return to === owner || isRenamed(owner, to, cluster, context) ? undefined : { tenant: owner }
}

/** Namespaces that no tenant owns, whatever their labels are. */
const RESERVED = /^(kube-.*|flux-system|capsule-system)$/

const isOfCapsule = ({ key }: Claim): boolean => key !== TENANT_KEYS[0]

/** The tenant name of a Capsule Tenant that an account owns. */
function nameOf(index: FleetIndex, cluster: string, tenant: string): string | undefined {
  const homes = index.capsuleHomesOf(cluster).get(tenant) ?? []
  return homes.map(home => index.ownerOf(cluster, home)).find(one => one !== undefined)
}

/** Whether a tenant has a new name: unused before on all clusters, on all its remaining namespaces, and on no others. */
function isRenamed(was: string, is: string, cluster: string, { index, before }: RuleContext): boolean {
  if (!before || before.namespacesOf(cluster, is).length > 0) return false
  if (before.capsuleHomesOf(cluster).has(is)) return false
  const former = before.namespacesOf(cluster, was)
  // a rename may go from cluster to cluster
  const isOthers = (one: string) => before.namespacesOf(one, is).some(name => !former.includes(name))
  if (before.clusters().some(isOthers)) return false
  const isKept = former.every(one => [is, undefined].includes(index.ownerOf(cluster, one)))
  return isKept && index.namespacesOf(cluster, is).every(one => former.includes(one))
}

/** Whether the platform runs something in a namespace: the namespace's owner gets its accounts and Secrets. */
function runsThere(index: FleetIndex, cluster: string, namespace: string): Loser | undefined {
  const isThere = ({ object }: Rendered) => stringAt(object.root, ['spec', 'targetNamespace']) === namespace
  const runs =
    index.platformAnywhere(cluster, HELM_RELEASE).some(isThere) ||
    WORKLOADS.some(kind => index.platformRendered(cluster, kind, namespace).length > 0)
  return runs ? { platform: message`workloads of the platform run there` } : undefined
}

const WORKLOADS = ['apps/Deployment', 'apps/DaemonSet', 'apps/StatefulSet', HELM_RELEASE]

function violation(subject: Subject, { path, key, to }: Claim, from: Loser, { index, before }: RuleContext): Violation {
  const { object, id, node } = subject
  const whose = 'tenant' in from ? message`tenant ${quoted('tenant', from.tenant)}` : message`the platform`
  const known = before?.platformObject(node.cluster, '/Namespace', '', id.name)
  const kept = known && stringAt(known.root, path)
  const what =
    key === 'name'
      ? message`what remains`
      : key === 'ownerReferences'
        ? message`its ownerReference`
        : message`its label ${part('field', key)}`
  const why =
    'tenant' in from ? message`Allowed: the same tenant` : message`Allowed: no tenant, because ${from.platform}`
  const renamedAt = before && !known ? nameElsewhere(object) : undefined
  const edit = kept
    ? message`Keep ${part('field', key)}: ${quoted('tenant', kept)} and create a separate namespace for the other tenant`
    : renamedAt
      ? message`Give the Namespace another name at ${part('path', `${renamedAt.file}:${renamedAt.line}`)}`
      : message`Remove ${part('field', key)}, or create a separate namespace for tenant ${quoted('tenant', to)}`
  const words = namespaceAnswer(index, node, object, known)
  const answer = words ? message`Capsule: ${untyped(words)}.` : message`Flux and the API server accept it.`
  return subject.violation(path, `${key} ${'tenant' in from ? from.tenant : 'platform'} to ${to}`, {
    leads: [newOwnerCause(id.name)],
    follows: [objectCause({ kind: 'Tenant', namespace: '', name: to })],
    ...(renamedAt ? { origin: renamedAt } : {}),
    message: message`${objectPart('Namespace', '', id.name)} belongs to ${whose}, but ${what} gives it to ${quoted('tenant', to)}. ${why}. ${answer}`,
    fix: message`${edit}. To move the namespace, waive the rule for it or merge with an override.`,
  })
}

/** Where another file than the object's own, such as an overlay, writes its name: that line is to edit, not the base. */
function nameElsewhere({ root }: KubeObject): Origin | undefined {
  const origin = originAt(root, ['metadata', 'name'])
  return origin.file === root.origin.file && origin.repository === root.origin.repository ? undefined : origin
}

/** Requests of the platform that Capsule refuses, for each owner. */
function* refusedByCapsule(subject: Subject, claims: readonly Claim[], context: RuleContext): Iterable<Violation> {
  const { object, id, node } = subject
  const { index, before } = context
  const words = namespaceAnswer(index, node, object, before?.platformObject(node.cluster, '/Namespace', '', id.name))
  if (words === undefined) return
  yield subject.violation(claims.find(isOfCapsule)?.path ?? ['metadata', 'name'], words, {
    level: 'warning',
    severity: 'medium',
    message: message`${objectPart('Namespace', '', id.name)} names a Capsule Tenant, but ${identityPart(node.identity)} is neither an administrator nor a user of Capsule. Allowed: a Namespace without the Tenant's label. Capsule: ${untyped(words)}.`,
    fix: message`Remove the label, or list the account in ${part('field', 'spec.administrators')} of the CapsuleConfiguration.`,
  })
}

const FIELD = ['spec', 'install', 'createNamespace']

/** A tenant's release that makes Helm create its namespace, which no one has given to the tenant. */
function* createdByHelm(subject: Subject, { index, config }: RuleContext): Iterable<Violation> {
  const { object, id, node } = subject
  const tenant = index.actsFor(node, object)
  const flag = subject.at(FIELD)
  if (tenant === undefined || !flag || !isTrue(flag)) return
  const target = subject.text(['spec', 'targetNamespace']) || id.namespace
  const isBaseline = memberSettings(config, tenant).every(one => (one?.profile ?? config.profile) === 'baseline')
  const byCapsule = mayCreateNamespace(node.identity, target, index.capsuleOwners(node.cluster))
  const isOwn = index.owns(node.cluster, tenant, target)
  yield subject.violation(FIELD, target, {
    ...(isOwn && (isBaseline || byCapsule) ? { level: 'warning' as const } : {}),
    severity: 'high',
    message: message`${subject.who} makes Helm create namespace ${quoted('object', target)} without the platform's labels, quotas and policies. Allowed: an existing namespace. Helm would create it with the rights of the release's account.`,
    fix: message`Remove spec.install.createNamespace, and ask a fleet admin to render the Namespace.`,
    edit: { remove: true },
  })
}

function isTrue(node: NonNullable<ReturnType<typeof at>>): boolean {
  return node.type !== 'scalar' || (node.value !== false && node.value !== null && node.value !== 'false')
}

/** A tenant's Kustomization on a cluster that the fleet's file does not allow for it; its children follow from it. */
function* forbiddenCluster(node: FleetNode, { config, index }: RuleContext): Iterable<Violation> {
  const { tenant, cluster, namespace, name, parent } = node
  const allowed = memberSettings(config, tenant)
    .map(one => one?.clusters)
    .find(clusters => clusters?.includes(cluster) === false)
  if (allowed === undefined) return
  const renderedBy = index.node(parent)
  if (renderedBy?.tenant === tenant) return
  const clusters = allowed.length === 0 ? message`none` : listed(allowed.map(one => quoted('object', one)))
  yield Subject.ofNode(node, renderedBy).violation(['metadata', 'name'], `cluster ${cluster}`, {
    message: message`${objectPart('Kustomization', namespace, name)} acts for tenant ${quoted('tenant', tenant ?? '')} on cluster ${quoted('object', cluster)}. Allowed by .github/bailiwick.yaml: ${clusters}.`,
    fix: message`Remove the tenant from this cluster, or add the cluster to tenants[].clusters in .github/bailiwick.yaml in a separate change.`,
  })
}

/**
 * What the platform writes for one tenant into another's namespace. `flux create tenant` labels a tenant's account and
 * binding with its name: two names in one namespace are two tenants who share their rights.
 */
function* givenTwice(subject: Subject, { index, before }: RuleContext): Iterable<Violation> {
  const { id, node } = subject
  const label = subject.text(TENANT_LABEL)
  if (!label) return
  const owner = index.givenTo(node.cluster, id.namespace)
  if (owner === undefined || owner === label) return
  // the first tenant is not the one to move: the finding is at the Namespace that was taken
  if (before?.givenTo(node.cluster, id.namespace) === label) return
  yield subject.violation(TENANT_LABEL, `${label} in ${owner}`, {
    message: message`${subject.who} is labeled for tenant ${quoted('tenant', label)}, but its namespace belongs to tenant ${quoted('tenant', owner)}. They would share accounts, secrets and rights. Allowed: one tenant per namespace. Flux and the API server accept it.`,
    fix: message`Create a separate namespace for tenant ${quoted('tenant', label)} (flux create tenant --with-namespace).`,
  })
}
