import { message, part } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import { hashOf, lostCause, objectCause, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { unknownRole } from '../../fleet/facts/grants.ts'
import { isPlatform } from '../../fleet/facts/object-index.ts'
import { objectPart, quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import {
  applierKinds,
  kubeConfigOf,
  misspelled,
  accountOf as readAccount,
} from '../../fleet/model/kustomization-spec.ts'
import { CAPSULE_LABEL, mayCreateNamespace } from '../../fleet/tenancy/capsule.ts'
import { KUBECONFIG_FIELD, KUSTOMIZATION, TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { type Binding, type BoundSubject, RBAC_GROUP, readBinding, readRole } from '../../kube/rbac/binding.ts'
import {
  accountOf,
  type PolicyRule,
  type ResourceRequest,
  ruleAllows,
  userInfo,
  userOfAccount,
} from '../../kube/rbac/policy-rule.ts'
import { readLabelSelector, selects, textMapOf } from '../../kube/read-fields.ts'
import { listAt, textsAt } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, serverWords, type Violation } from '../model/rule.ts'
import { ANY, capsuleObjects, ownerCause, selfRole, TENANT, TENANT_OWNER } from './capsule-users.ts'

/** Groups that contain all users, or all accounts. */
const EVERYBODY = /^system:(authenticated|unauthenticated|anonymous|serviceaccounts|masters|nodes)$/
const ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([^:]+)$/

/** An owner of a Capsule Tenant owns all of its namespaces. */
export const capsuleOwnerChange: Rule = {
  id: 'capsule-owner-change',
  severity: 'critical',
  title: 'Changed owner of a Capsule Tenant',
  why: 'Owners of a Capsule Tenant, and the subjects of its `additionalRoleBindings`, have their rights in every namespace of the Tenant. This includes namespaces that are created later.',
  source: 'Capsule: spec.owners, spec.additionalRoleBindings',
  docs: 'Bind only accounts of the tenant. To add another owner, waive the rule for the Tenant or merge with an override.',
  kinds: [TENANT, TENANT_OWNER],
  *checkObject(subject, { index, before }) {
    const { object, id, node, kind } = subject
    // the rule cluster-scoped-forbidden reports a tenant's own Tenant
    if (node.tenant !== undefined) return
    if (kind === TENANT_OWNER) return yield* selectedOwner(subject, index, before)
    const was = before?.platformObject(node.cluster, TENANT, '', id.name)
    const known = was && new Set(grantsOf(was.root).map(({ key }) => key))
    const homes = was ? homesOf(was.root) : homesOf(object.root, 1)
    const removed = was ? removedOwners(subject, was.root, index) : []
    yield* removed
    yield* handedOver(subject)
    for (const grant of grantsOf(object.root)) {
      const why = foreign(grant, node.cluster, index, homes) ?? (known && added(grant, known, homes))
      // a new name in place of a removed one is one mistake
      if (why !== undefined && !removed.some(({ path }) => path.join() === grant.path.join()))
        yield violation(subject, id.name, grant, why)
    }
  },
}

const METADATA: readonly Path[] = [
  ['spec', 'namespaceOptions', 'additionalMetadata'],
  ['spec', 'namespaceOptions', 'additionalMetadataList', '*'],
]

/** Capsule writes these labels to every namespace of the Tenant: that of another tenant would give all of them away. */
function* handedOver(subject: Subject): Iterable<Violation> {
  for (const path of METADATA.flatMap(pattern => subject.items([...pattern, 'labels']))) {
    for (const key of [TENANT_LABEL_KEY, CAPSULE_LABEL]) {
      const tenant = subject.text([...path, key])
      if (!tenant || tenant === subject.id.name) continue
      yield subject.violation([...path, key], `${key} ${tenant}`, {
        message: message`Capsule would label every namespace of Tenant ${quoted('object', subject.id.name)} as one of tenant ${quoted('tenant', tenant)}. Allowed: its own name, or no such label. The API server accepts it.`,
        fix: message`Remove ${part('field', key)} from ${part('field', path.slice(1).join('.'))}.`,
      })
    }
  }
}

/** The name of an account without its namespace. */
const lastOf = ({ name }: Grant): string => name.slice(name.lastIndexOf(':') + 1)

/** Owners that the Tenant loses and as which Flux still acts: Capsule refuses what Flux applies as them. */
function removedOwners(subject: Subject, was: Node, index: FleetIndex): Violation[] {
  const { object, id, node } = subject
  const [before, now] = [was, object.root].map(root => grantsOf(root).filter(({ isOwner }) => isOwner))
  const isIn = (grants: readonly Grant[], { key }: Grant) => grants.some(one => one.key === key)
  const written = misspelled(object, ['spec', 'owners'])
  return before!.flatMap((grant): Violation[] => {
    const { who, name, home } = grant
    if (home === undefined || isIn(now!, grant)) return []
    const acting = index.nodesIn(node.cluster, home).find(({ identity }) => {
      const isMeant = who.startsWith('Group ') ? accountOf(identity.user)?.namespace === home : identity.user === name
      return isMeant && !mayCreateNamespace(identity, ANY, index.capsuleOwners(node.cluster))
    })
    if (!acting) return []
    const isMade = (one: Grant) =>
      index.versionsOf(node.cluster, '/ServiceAccount', one.home ?? '', lastOf(one)).length > 0
    const isMeant = (one: Grant) => one.home === home || (lastOf(one) === lastOf(grant) && !isMade(one))
    const instead = now!.find(one => isMeant(one) && !isIn(before!, one))
    return [
      subject.violation(instead?.path ?? written ?? ['spec', 'owners'], `removed ${who}`, {
        leads: [lostCause(home)],
        ...(instead ? { cause: ownerCause(id.name, instead.who) } : {}),
        message: message`${quoted('identity', who)} no longer owns Capsule Tenant ${quoted('object', id.name)}, but ${objectPart('Kustomization', acting.namespace, acting.name)} is applied as ${part('identity', acting.identity.user)}. Allowed: removing an owner together with what is applied as it. Capsule: You do not have any Tenant assigned: please, reach out to the system administrators.`,
        fix: written
          ? message`Rename ${part('field', written.join('.'))} to ${part('field', 'owners')}.`
          : message`Restore the owner ${quoted('identity', name)} in ${part('field', 'spec.owners')}, or remove everything of the tenant in one change.`,
      }),
    ]
  })
}

/** A TenantOwner belongs to the Tenants that select it by label, and to those that name it. */
function* selectedOwner(subject: Subject, index: FleetIndex, before: FleetIndex | undefined): Iterable<Violation> {
  const { object, id, node } = subject
  const spec = subject.at(['spec'])
  for (const tenant of spec ? selecting(index, node.cluster, object.root) : []) {
    const { name } = idOf(tenant)
    const was = before?.platformObject(node.cluster, TENANT, '', name)
    const former = before?.platformObject(node.cluster, TENANT_OWNER, '', id.name)
    const wasSelected = was && former && isSelected(was.root, former.root)
    const known = wasSelected ? ownerGrants(at(former.root, ['spec'])!, ['spec']) : []
    const keys = new Set([...(was ? grantsOf(was.root) : []), ...known].map(({ key }) => key))
    const homes = homesOf((was ?? tenant).root)
    for (const grant of ownerGrants(spec!, ['spec'])) {
      const why = foreign(grant, node.cluster, index, homes) ?? (was && added(grant, keys, homes))
      if (why !== undefined) yield violation(subject, name, grant, why)
    }
  }
}

function selecting(index: FleetIndex, cluster: string, owner: Node): KubeObject[] {
  const tenants = capsuleObjects(index, cluster, TENANT).map(({ object }) => object)
  return tenants.filter(({ root }) => isSelected(root, owner))
}

function isSelected(tenant: Node, owner: Node): boolean {
  const labels = textMapOf(at(owner, ['metadata', 'labels'])) ?? new Map<string, string>()
  const selectors = listAt(tenant, ['spec', 'permissions', 'matchOwners']).map(readLabelSelector)
  return selectors.some(selector => selector !== undefined && selects(selector, labels))
}

/** What a subject gets by a Tenant. */
interface Grant {
  readonly path: Path
  /** `<kind> <name>`. */
  readonly who: string
  /** The name in `who`. */
  readonly name: string
  /** Namespace of an account. */
  readonly home: string | undefined
  readonly what: string
  /** Identity of the grant: the subject and what it gets. */
  readonly key: string
  readonly isOwner: boolean
  /** A right at Capsule's proxy. */
  readonly isOfProxy?: true
}

function grantsOf(root: Node): Grant[] {
  const bindings = (path: Path, name: string) =>
    listAt(root, path).flatMap((binding, index) =>
      subjectGrants(binding, [...path, index], stringAt(binding, [name]) ?? textsAt(binding, [`${name}s`]).join(' ')),
    )
  const single = at(root, ['spec', 'owner'])
  const rules = listAt(root, ['spec', 'rules']).flatMap((_rule, index) => {
    const path = ['spec', 'rules', index, 'permissions', 'bindings']
    return [...bindings(path, 'clusterRoleName'), ...bindings(path, 'clusterRole')]
  })
  const promoted = listAt(root, ['spec', 'rules']).flatMap((_rule, index) => {
    const path = ['spec', 'rules', index, 'permissions', 'promotions']
    return listAt(root, path).map((promotion, place): Grant => {
      const who = 'accounts by their labels'
      const what = textsAt(promotion, ['clusterRoles']).join(' ')
      return {
        path: [...path, place],
        who,
        name: who,
        home: undefined,
        what,
        key: canonical(promotion),
        isOwner: false,
      }
    })
  })
  const matched = listAt(root, ['spec', 'permissions', 'matchOwners']).map((selector, index): Grant => {
    const path = ['spec', 'permissions', 'matchOwners', index]
    const key = canonical(selector)
    const who = 'owners by their labels'
    return { path, who, name: who, home: undefined, what: 'owner', key, isOwner: true }
  })
  return [
    ...listAt(root, ['spec', 'owners']).flatMap((owner, index) => ownerGrants(owner, ['spec', 'owners', index])),
    ...(single?.type === 'map' ? ownerGrants(single, ['spec', 'owner']) : []),
    ...bindings(['spec', 'additionalRoleBindings'], 'clusterRoleName'),
    ...rules,
    ...promoted,
    ...matched,
  ]
}

/** One grant for ownership, one for each role and each right at Capsule's proxy. */
function ownerGrants(owner: Node, path: Path): Grant[] {
  const name = stringAt(owner, ['name']) ?? ''
  const written = stringAt(owner, ['kind']) ?? ''
  const kind = written === 'User' && accountOf(name) ? 'ServiceAccount' : written
  const who = `${kind} ${name}`
  const home = homeOf(kind, name)
  const grant = (what: string, isOwner: boolean, at: Path): Grant => {
    return { path: at, who, name, home, what, key: `${who} ${what}`, isOwner }
  }
  const proxy = listAt(owner, ['proxySettings']).map(setting => canonical(setting))
  return [
    grant('owner', true, [...path, 'name']),
    ...textsAt(owner, ['clusterRoles']).map(role => grant(role, false, [...path, 'clusterRoles'])),
    ...proxy.map(text => ({ ...grant(`proxy ${text}`, false, [...path, 'proxySettings']), isOfProxy: true as const })),
  ]
}

function subjectGrants(binding: Node, path: Path, role: string): Grant[] {
  return listAt(binding, ['subjects']).map((subject, index): Grant => {
    const written = stringAt(subject, ['kind']) ?? ''
    const plain = stringAt(subject, ['name']) ?? ''
    const name = written === 'ServiceAccount' ? userOfAccount(stringAt(subject, ['namespace']) ?? '', plain) : plain
    const kind = written === 'User' && accountOf(name) ? 'ServiceAccount' : written
    const home = homeOf(kind, name)
    const who = `${kind} ${name}`
    return { path: [...path, 'subjects', index], who, name, home, what: role, key: `${who} ${role}`, isOwner: false }
  })
}

function homeOf(kind: string, name: string): string | undefined {
  return (kind === 'Group' ? ACCOUNTS_OF : ACCOUNT).exec(name)?.[1]
}

/** Homes of the first accounts that own the Tenant: what else they get is theirs anyway. */
function homesOf(root: Node, first = 100): ReadonlySet<string> {
  const owners = grantsOf(root).filter(({ isOwner }) => isOwner)
  return new Set(owners.slice(0, first).flatMap(({ home }) => home ?? []))
}

function foreign({ name, home }: Grant, cluster: string, index: FleetIndex, homes: ReadonlySet<string>) {
  if (EVERYBODY.test(name)) return 'that group includes every user'
  if (home === undefined || homes.has(home)) return undefined
  const [first] = homes
  const own = first === undefined ? undefined : index.ownerOf(cluster, first)
  const other = index.ownerOf(cluster, home)
  return own !== undefined && other !== undefined && other !== own
    ? 'that account belongs to another tenant'
    : undefined
}

function added({ key, name, home, isOwner, isOfProxy }: Grant, known: ReadonlySet<string>, homes: ReadonlySet<string>) {
  if (known.has(key)) return undefined
  // an owner's own account needs roles in its own namespaces for Flux to act
  const isOwn = home !== undefined && homes.has(home)
  if (isOwn && !isOfProxy && (!isOwner || ACCOUNT.test(name))) return undefined
  return 'this change adds it'
}

function violation(
  subject: Subject,
  tenant: string,
  grant: Grant,
  why: NonNullable<ReturnType<typeof foreign | typeof added>>,
): Violation {
  const what = grant.isOwner ? 'owns' : 'has rights in'
  const role = grant.isOwner ? message`` : message` (${quoted('value', grant.what)})`
  return subject.violation(grant.path, grant.key, {
    cause: ownerCause(tenant, grant.who),
    message: message`${quoted('identity', grant.who)} ${what} every namespace of Capsule Tenant ${quoted('object', tenant)}${role}: ${why}. Allowed: the Tenant's previous owners, and accounts in their namespaces. Capsule accepts it.`,
    fix: message`Remove ${grant.isOwner ? 'the owner' : 'the subject'} from ${objectPart('Tenant', '', tenant)}. To keep it, waive the rule for this Tenant or merge with an override.`,
  })
}

/**
 * Whether a change takes a remaining Capsule Tenant from the accounts of a tenant: the rule capsule-owner-change
 * reports it at the Tenant, so other rules do not repeat it at the tenant's objects.
 */
export function ownerRemoved({ index, before }: RuleContext, cluster: string, tenant: string): boolean {
  if (!before?.isCapsuleTenant(cluster, tenant)) return false
  const [was, now] = [before.capsuleOwners(cluster), index.capsuleOwners(cluster)]
  const acting = before.namespacesOf(cluster, tenant).flatMap(namespace => index.nodesIn(cluster, namespace))
  const isRemoved = acting.some(({ identity }) => {
    return mayCreateNamespace(identity, ANY, was) && !mayCreateNamespace(identity, ANY, now)
  })
  const isLeft = capsuleObjects(index, cluster, TENANT).some(({ object }) => {
    return before.versionsOf(cluster, TENANT, '', idOf(object).name).some(isPlatform)
  })
  return isRemoved && isLeft
}

/** Rights that, by Capsule's document for Flux, the platform gives the account of a Tenant's owner; or its addon does. */
export const capsuleAccountRights: Rule = {
  id: 'capsule-account-rights',
  severity: 'high',
  title: 'Tenant owner without the rights that Flux needs',
  why: "Flux sends a tenant's requests to Capsule's proxy with the account's token and impersonates the same account. The proxy refuses every request if the account may not impersonate itself. Capsule binds owners only in the namespaces of the Tenant, not in the account's own namespace.",
  source: 'flux2-capsule-multi-tenancy: the recipe; capsule-proxy internal/request/http.go',
  docs: 'Bind the account in its own namespace, and let it impersonate its own user name. The names of the roles and bindings do not matter. With the annotation `capsule.addon.fluxcd/enabled: "true"` on the account, the addon makes both.',
  kinds: applierKinds,
  *checkObject({ node, object, kind, id: { namespace } }, context) {
    const { cluster, hub } = node
    const { index } = context
    const own = index.nodeOf(cluster, object)
    const name = readAccount(object, index.cluster(cluster)?.lockdown)
    if (name === undefined || own?.error || hub !== undefined || own?.hub !== undefined) return
    if (!index.capsuleHomes(cluster).get(namespace)?.includes(name)) return
    const user = userOfAccount(namespace, name)
    const of = { node: own ?? node, object, user }
    const self = { verb: 'impersonate', apiGroup: '', resource: 'users', namespace: '', name: user }
    // requests through the proxy do not reach the webhook as the proxy's own
    const isLater = node.identity.user === user && usesProxy(node.kustomization, name)
    if (usesProxy(object, name) && !isLater) yield* lacking(of, self, [...KUBECONFIG_FIELD], context)
    if (kind === KUSTOMIZATION && node.tenant === undefined) yield* lackingAtHome(of, context)
  },
}

/** The object by which Flux acts, and its account. */
interface Acting {
  readonly node: FleetNode
  readonly object: KubeObject
  readonly user: string
}

const usesProxy = (object: KubeObject, account: string): boolean =>
  stringAt(kubeConfigOf(object), ['secretRef', 'name']) === `${account}-kubeconfig`

function* lackingAtHome(acting: Acting, context: RuleContext): Iterable<Violation> {
  const { node, object, user } = acting
  const { cluster } = node
  const { apiVersion, namespace, name } = idOf(object)
  const bound = (one: FleetIndex) => one.bindingsOf(cluster, user, namespace).filter(isOf(namespace))
  // the rule identity-object-tamper reports a removed binding
  if (bound(context.before ?? context.index).some(isGone(cluster, context.index))) return
  // where objects are visible, each of them is evaluated by itself
  const isBound = bound(context.index).length > 0
  if (isBound && node.source.opaque === undefined) return
  const request = { verb: 'patch', apiGroup: groupOf(apiVersion), resource: 'kustomizations', namespace, name }
  for (const found of lacking(acting, request, ['metadata', 'name'], context))
    yield isBound ? { ...found, ...tooLittle(user, namespace) } : found
}

const tooLittle = (user: string, namespace: string): Pick<Violation, 'level' | 'message' | 'fix'> => ({
  level: 'warning',
  message: message`${part('identity', user)} owns a Capsule Tenant, but its RoleBindings do not let it apply Kustomizations in its own namespace. What its repository applies is not visible.`,
  fix: message`Bind the account in ${quoted('object', namespace)} to a role that may patch Kustomizations, or check that its repository has none.`,
})

const isOf = (namespace: string) => (binding: Binding) => binding.namespace === namespace
const isGone = (cluster: string, index: FleetIndex) => (one: Binding) =>
  index.versionsOf(cluster, `${RBAC_GROUP}/${one.kind}`, one.namespace, one.name).length === 0

/** What an account lacks is one cause, whatever goes through Capsule's proxy. */
export const lackingCause = (verb: string, user: string): string => hashOf([verb, user])

/** A request that no visible grant of the account allows. */
function* lacking(
  acting: Acting,
  request: ResourceRequest,
  path: Path,
  { index, before }: RuleContext,
): Iterable<Violation> {
  const { node, object, user: userName } = acting
  const { cluster } = node
  const answer = index.refusalOf(cluster, userName, request)
  if (answer === undefined) return
  const user = userInfo(userName)
  const bindings = index.bindingsOf(cluster, userName, request.namespace ?? '')
  const missing = bindings.filter(one => index.roleRules(cluster, one.roleRef, one.namespace) === undefined)
  // the cause is a role that the fleet does not render
  const dangling = new Set(missing.map(unknownRole))
  if (index.unseenGrants(cluster, user, request).some(reason => !dangling.has(reason))) return
  const near = nearMiss(index, acting, request, missing[0])
  const isSelf = request.verb === 'impersonate'
  const { namespace } = idOf(object)
  // clusters share the cause where they share the line of its edit
  const account = accountOf(userName)!
  const edited = near
    ? originAt(near.object.root, near.path)
    : index.platformObject(cluster, '/ServiceAccount', account.namespace, account.name)?.root.origin
  const value = `${request.verb} ${userName}`
  yield new Subject({ node, object: near?.object ?? object }).violation(near?.path ?? path, value, {
    cause: hashOf([lackingCause(request.verb, userName), placeText(edited)]),
    leads: [
      lackingCause(request.verb, userName),
      ...(near && readRole(near.object) ? [objectCause(idOf(near.object))] : []),
    ],
    follows: before?.bindingsOf(cluster, userName, request.namespace ?? '').map(objectCause) ?? [],
    message: isSelf
      ? message`${whoOf(object)} goes through Capsule's proxy, but ${part('identity', userName)} may not impersonate itself. Allowed: a ClusterRole with ${part('value', 'impersonate')} on its own user name. The proxy refuses every request: ${serverWords(answer)}.`
      : message`${part('identity', userName)} owns a Capsule Tenant, but no visible RoleBinding gives it rights in its own namespace. Allowed: a RoleBinding there. The API server rejects this: ${serverWords(answer)}.`,
    fix: near
      ? message`${near.wanted === ADDON ? 'Rename' : 'Set'} ${part('field', near.path.join('.'))} to ${quoted('value', near.wanted)}.`
      : message`${isSelf ? message`Bind a ClusterRole with verb impersonate on users, limited to ${quoted('identity', userName)}` : message`Bind the account in ${quoted('object', namespace)}`}, or annotate the ServiceAccount with ${part('value', ADDON)}.`,
  })
}

/** A binding of the platform that would give the right if the name of its role or subject were right. */
function nearMiss(index: FleetIndex, { node: { cluster }, user }: Acting, request: ResourceRequest, missing?: Binding) {
  const { namespace = '', verb } = request
  const kind = `${RBAC_GROUP}/${namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'}`
  // a role that allows it for every name, such as cluster-admin, was not meant for this account alone
  const allows = (rule: PolicyRule) =>
    ruleAllows(rule, request) && (verb !== 'impersonate' || rule.resourceNames.length > 0)
  if (missing) {
    const object = index.platformObject(cluster, kind, missing.namespace, missing.name)
    const roles = index.platformAnywhere(cluster, `${RBAC_GROUP}/ClusterRole`).map(one => idOf(one.object).name)
    const wanted = roles.find(role => index.roleRules(cluster, { kind: 'ClusterRole', name: role }, '')?.some(allows))
    return object && wanted !== undefined ? { object, path: ['roleRef', 'name'] as Path, wanted } : undefined
  }
  const meant = addonMark(index, cluster, user) ?? (verb === 'impersonate' ? selfRole(index, cluster, user) : undefined)
  if (meant) return meant
  const isNobody = ({ kind: of, namespace: home, name: account }: BoundSubject) =>
    of === 'ServiceAccount' && index.versionsOf(cluster, '/ServiceAccount', home, account).length === 0
  for (const { object } of index.platformRendered(cluster, kind, namespace)) {
    const binding = readBinding(object)
    const place = binding?.subjects.findIndex(isNobody) ?? -1
    if (!binding || place < 0 || !index.roleRules(cluster, binding.roleRef, binding.namespace)?.some(allows)) continue
    const own = accountOf(user)!
    const field = binding.subjects[place]!.name === own.name ? 'namespace' : 'name'
    return { object, path: ['subjects', place, field] as Path, wanted: own[field] }
  }
  return undefined
}

const ADDON = 'capsule.addon.fluxcd/enabled'

/** The annotation of an account by which Capsule's addon would give it the rights, if its name or value were right. */
function addonMark(index: FleetIndex, cluster: string, user: string) {
  const { namespace, name } = accountOf(user)!
  const object = index.platformObject(cluster, '/ServiceAccount', namespace, name)
  const marks = textMapOf(object && at(object.root, ['metadata', 'annotations'])) ?? new Map<string, string>()
  const key = marks.has(ADDON) ? ADDON : probably(ADDON, [...marks.keys()])
  if (!object || key === undefined) return undefined
  return { object, path: ['metadata', 'annotations', key] as Path, wanted: key === ADDON ? 'true' : ADDON }
}
