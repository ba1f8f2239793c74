import { capital, listed, type Message, message, part } from '../../base/message.ts'
import {
  type CapsuleRole,
  type CapsuleSettings,
  type CapsuleUse,
  capsuleUse,
  capsuleVersion,
  capsuleSettings as settingsOf,
} from '../../fleet/facts/capsule.ts'
import { releasesOf } from '../../fleet/facts/charts.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { Identity } from '../../fleet/model/fleet.ts'
import { homesOf, mayCreateNamespace, nameOfOwner, readCapsuleTenants } from '../../fleet/tenancy/capsule.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { originAt, type Path, stringAt } from '../../kube/node.ts'
import { idOf, KUBERNETES_NAMESPACES, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP, readRole } from '../../kube/rbac/binding.ts'
import { accountOf, userInfo } from '../../kube/rbac/policy-rule.ts'
import { listAt } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'

export const TENANT = 'capsule.clastix.io/Tenant'
export const CONFIGURATION = 'capsule.clastix.io/CapsuleConfiguration'
export const TENANT_OWNER = 'capsule.clastix.io/TenantOwner'

/** A name that Capsule allows for every Tenant owner. */
export const ANY = 'any'

/** The objects of one of Capsule's kinds that the platform renders on a cluster. */
export function capsuleObjects(index: FleetIndex, cluster: string, kind: string): readonly Rendered[] {
  return index.platformAnywhere(cluster, kind)
}

/** The Tenants of a cluster, and the TenantOwners that they select. */
const tenantObjects = (index: FleetIndex, cluster: string): KubeObject[] =>
  [TENANT, TENANT_OWNER].flatMap(kind => capsuleObjects(index, cluster, kind).map(({ object }) => object))

/** The minor version of Capsule (0.x) that a cluster runs; the newest known one where the fleet shows none. */
export const webhookVersion = (index: FleetIndex, cluster: string): number => index.capsule(cluster).minor

/** The Capsule Tenants of a cluster that an identity owns, by its name or by a group of its namespace. */
export function tenantsOwnedBy(index: FleetIndex, cluster: string, identity: Identity): KubeObject[] {
  const all = tenantObjects(index, cluster)
  const owned = readCapsuleTenants(all).filter(({ owners }) =>
    mayCreateNamespace(identity, ANY, new Set(owners.map(nameOfOwner))),
  )
  const names = new Set(owned.map(({ name }) => name))
  return all.filter(object => idOf(object).kind === 'Tenant' && names.has(idOf(object).name))
}

export function namesOf(tenants: readonly KubeObject[]): string[] {
  return tenants.map(object => idOf(object).name)
}

export type { CapsuleSettings }

/** Where a cluster configures which users Capsule checks. */
export const capsuleSettings = (index: FleetIndex, cluster: string): CapsuleSettings[] =>
  settingsOf(kind => capsuleObjects(index, cluster, kind))

/**
 * How Capsule sees a user; without a visible configuration an owner of a Tenant is its user: the rule
 * capsule-group-missing reports one outside the groups.
 */
export function capsuleRoleOf(index: FleetIndex, cluster: string, user: string): CapsuleRole {
  const { configuration, minor, aggregated } = index.capsule(cluster)
  if (!configuration.isVisible) return 'user'
  const { namespace = '' } = accountOf(user) ?? {}
  const isMember = index.capsuleTenantAt(cluster, namespace) !== undefined
  const isAggregated = aggregated.has(`ServiceAccount ${user}`)
  return capsuleUse(configuration, userInfo(user), minor, { isMember, isAggregated }).role
}

/** Whether Capsule's webhooks check what a user writes in the namespaces of a Tenant. */
export const isCapsuleUser = (index: FleetIndex, cluster: string, user: string): boolean =>
  capsuleRoleOf(index, cluster, user) === 'user'

const ACCOUNT = /^system:serviceaccount:([a-z0-9.-]+):[a-z0-9.-]+$/
const ACCOUNTS_OF = /^system:serviceaccounts:([a-z0-9.-]+)$/

/** Capsule checks only users of the groups that its configuration names. */
export const capsuleGroupMissing: Rule = {
  id: 'capsule-group-missing',
  severity: 'critical',
  title: "Tenant owner outside Capsule's user groups",
  why: "Capsule's admission webhooks ignore requests from users outside `CapsuleConfiguration.spec.userGroups`. An owner account outside these groups can write namespaces, labels and owners without a check.",
  source: 'flux2-capsule-multi-tenancy: Tenant Groups',
  docs: 'Add `system:serviceaccounts:<namespace>` of every account that owns a Tenant to `spec.userGroups`. Keep these accounts out of `spec.ignoreUserWithGroups` and `spec.administrators`.',
  *checkCluster(cluster, { index, before }) {
    const accounts = accountsOf(index, cluster.name)
    if (accounts.length === 0) return
    const settings = capsuleSettings(index, cluster.name)
    if (before) yield* dropped(cluster.name, index, before, settings)
    if (before) yield* uninstalled(cluster.name, index, before)
    const [first] = settings
    if (!first) return
    const capsule = index.capsule(cluster.name)
    const uses = accounts.map(account => {
      const { user = '', groups, isAggregated } = account
      return {
        ...account,
        ...capsuleUse(capsule.configuration, { name: user, groups }, capsule.minor, { isAggregated }),
      }
    })
    const missed = uses.filter(({ role }) => role !== 'user')
    for (const same of Map.groupBy(missed, ({ by }) => by).values())
      for (const one of same) yield unchecked(one, same, first, capsule)
  },
}

interface Account {
  /** As the Tenant names it. */
  readonly name: string
  readonly user: string | undefined
  readonly groups: readonly string[]
  readonly tenant: string
  readonly isAggregated: boolean
}

/** Accounts, and groups of accounts, that own Capsule Tenants: no manifest shows the groups of people. */
function accountsOf(index: FleetIndex, cluster: string): Account[] {
  const tenants = readCapsuleTenants(tenantObjects(index, cluster))
  const { aggregated } = index.capsule(cluster)
  return tenants.flatMap(({ name: tenant, owners }) =>
    owners.flatMap((owner): Account[] => {
      const namespace = ACCOUNT.exec(owner.name)?.[1]
      const group = owner.kind === 'Group' ? ACCOUNTS_OF.exec(owner.name)?.[1] : undefined
      const home = namespace ?? group
      // Capsule need not check the platform's own accounts
      if (home === undefined || homesOf({ name: tenant, owners: [owner] }).length === 0) return []
      const groups = [`system:serviceaccounts:${home}`, 'system:serviceaccounts', 'system:authenticated']
      const name = nameOfOwner(owner)
      return [{ name, user: namespace && owner.name, groups, tenant, isAggregated: aggregated.has(name) }]
    }),
  )
}

/** One wrong owner is one cause, whatever Capsule does about it. `owner`: with its kind. */
export const ownerCause = (tenant: string, owner: string): string => hashOf(['owner', tenant, owner])

/** An account that Capsule does not treat as a user; those with the same `same` are shown as one finding. */
function unchecked(
  { name, groups, by: passes, role }: Account & CapsuleUse,
  same: readonly Account[],
  first: CapsuleSettings,
  { version }: ReturnType<FleetIndex['capsule']>,
): Violation {
  const { node, object } = first.rendered
  const path = passes === undefined ? [...first.path, first.groups] : first.path
  const missing = [...new Set(same.map(one => one.groups[0]!))]
  const why =
    passes === undefined
      ? message`the list ${part('field', first.groups)} has none of ${same.length === 1 ? 'its' : 'their'} groups (${listed(missing.map(group => quoted('identity', group)))})`
      : message`Capsule ignores requests of ${quoted('identity', passes)}`
  const owners = same.map(
    one => message`${quoted('identity', one.name)} owns Capsule Tenant ${quoted('object', one.tenant)}`,
  )
  return new Subject({ node, object }).violation(path, `${passes ?? groups[0]} ${name}`, {
    follows: same.map(one => ownerCause(one.tenant, one.name)),
    cause: hashOf(['not checked', placeText(originAt(object.root, path)), passes ?? '']),
    message: message`${listed(owners, ' and ')}, but Capsule would not check ${same.length === 1 ? 'its' : 'their'} requests. ${capital(why)}. Allowed: an owner in ${part('field', 'spec.userGroups')}, outside ${part('field', 'spec.ignoreUserWithGroups')} and ${part('field', 'spec.administrators')}. Capsule's admission webhooks would accept every request of ${same.length === 1 ? 'this account' : 'these accounts'}${role === 'administrator' ? message`` : exceptFor(version)}.`,
    fix:
      passes === undefined
        ? message`Add ${listed(
            missing.map(group => part('identity', group)),
            ' and ',
          )} to ${part('field', first.groups)}.`
        : message`Remove ${part('identity', passes)} from the CapsuleConfiguration.`,
  })
}

/** What Capsule refuses since 0.13, as `namespaceAnswer` returns it. */
function exceptFor(version: number | undefined): Message {
  if (version !== undefined && version < 13) return message``
  return message`, ${version === undefined ? 'from Capsule 0.13 on ' : ''}except to write a Namespace that names a Tenant`
}

/** A configuration that is removed or renamed: Capsule falls back to its default group, which contains no account. */
function* dropped(
  cluster: string,
  index: FleetIndex,
  before: FleetIndex,
  settings: readonly CapsuleSettings[],
): Iterable<Violation> {
  const was = capsuleObjects(before, cluster, CONFIGURATION)[0]
  const name = was && idOf(was.object).name
  const left = capsuleObjects(index, cluster, CONFIGURATION).map(({ object }) => object)
  if (left.some(object => idOf(object).name === name) || settings.length > left.length) return
  const node = index.node(was?.node.key)
  if (!was || !node || node.error) return
  yield new Subject({ node, object: left[0] ?? was.object }).violation(['metadata', 'name'], 'removed', {
    ...(left.length === 0 ? { isBefore: true } : {}),
    message: message`CapsuleConfiguration ${quoted('object', name ?? '')} is removed, and its ${part('field', 'spec.userGroups')} with it, but accounts on this cluster own Capsule Tenants. Allowed: a CapsuleConfiguration with the groups of these accounts.`,
    fix: message`Restore the CapsuleConfiguration.`,
  })
}

/** A release of Capsule that is removed: Helm removes its webhooks, and the accounts keep what Capsule bound to them. */
function* uninstalled(cluster: string, index: FleetIndex, before: FleetIndex): Iterable<Violation> {
  const installed = (one: FleetIndex) => releasesOf(kind => capsuleObjects(one, cluster, kind), 'capsule')
  const [was] = installed(before)
  const node = was && index.node(was.rendered.node.key)
  const isThere = capsuleVersion(kind => capsuleObjects(index, cluster, kind)) !== undefined
  if (!was || !node || node.error || isThere || installed(index).length > 0) return
  const { object } = was.rendered
  const { namespace, name } = idOf(object)
  yield new Subject({ node, object }).violation(['metadata', 'name'], 'uninstalled', {
    isBefore: true,
    message: message`${objectPart('HelmRelease', namespace, name)} is removed, and Capsule with it, but accounts on this cluster own Capsule Tenants. Allowed: a release of Capsule as long as there are Tenants. Helm removes the admission webhooks, so that nothing checks these accounts.`,
    fix: message`Restore the HelmRelease, or remove the Tenants first.`,
  })
}

/**
 * Public groups, or identities of the platform, among Capsule's users or administrators: Capsule binds all of them to create
 * Namespaces, and its webhooks then treat them as tenants.
 */
export function* publicUsers(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { object, node } = subject
  if (node.tenant !== undefined) return
  for (const { rendered, path, groups } of capsuleSettings(index, node.cluster)) {
    if (rendered.object !== object) continue
    for (const field of new Set([groups, 'users', 'administrators'])) {
      for (const [place, item] of listAt(subject.at(path), [field]).entries()) {
        const isText = item.type === 'scalar'
        const kind = isText ? 'Group' : (stringAt(item, ['kind']) ?? '')
        const name = stringAt(item, isText ? [] : ['name'])
        const who = name && foreignUser(index, node.cluster, { kind, name }, field === 'administrators')
        if (!who) continue
        const at: Path = [...path, field, place, ...(isText ? [] : ['name'])]
        // Capsule looks at no request of kube-system
        const refusal = name.includes(':kube-system') ? '' : ', and refuses what its members do outside a Tenant'
        yield subject.violation(at, `${field} ${name}`, {
          message: message`${subject.who}: ${part('field', [...path, field].join('.'))} lists ${quoted('identity', name)}, which includes ${who}. Allowed: the group of each tenant's own namespace, and groups of people. Capsule binds capsule-namespace-provisioner to it${refusal}.`,
          fix: message`Remove ${quoted('identity', name)}, and list ${part('identity', 'system:serviceaccounts:<namespace>')} of each account that owns a Tenant.`,
        })
      }
    }
  }
}

/** Who an entry includes that is not a tenant. The platform's accounts may be administrators. */
function foreignUser(
  index: FleetIndex,
  cluster: string,
  { kind, name }: { readonly kind: string; readonly name: string },
  isAdministrator: boolean,
): Message | undefined {
  if (kind === 'Group' && isPublic({ kind, name })) return message`accounts of all tenants and Flux's own controllers`
  if (isAdministrator) return undefined
  const [, namespace] = (kind === 'Group' ? ACCOUNTS_OF : ACCOUNT).exec(name) ?? []
  if (namespace === undefined)
    return kind === 'Group' && name.startsWith('system:') && !name.startsWith('system:serviceaccount')
      ? message`identities of Kubernetes itself`
      : undefined
  if (namespace === index.rootOf(cluster)?.namespace) return message`Flux's own controllers`
  return isOfPlatform(index, cluster, namespace)
    ? message`accounts of namespace ${quoted('object', namespace)}, which is the platform's`
    : undefined
}

/** Whether a namespace is Kubernetes' own, or the platform releases charts into it, and it is not a tenant's. */
function isOfPlatform(index: FleetIndex, cluster: string, namespace: string): boolean {
  if (index.ownerOf(cluster, namespace) !== undefined) return false
  if (index.capsuleHomes(cluster).has(namespace)) return false
  if (['default', ...KUBERNETES_NAMESPACES].includes(namespace)) return true
  return index
    .platformAnywhere(cluster, HELM_RELEASE)
    .some(({ object }) => stringAt(object.root, ['spec', 'targetNamespace']) === namespace)
}

const PUBLIC = ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts', 'system:anonymous', '*']

/** Whether a subject stands for all users, or for the accounts of every namespace. */
export function isPublic({ kind, name }: { readonly kind: string; readonly name: string }): boolean {
  return kind !== 'ServiceAccount' && PUBLIC.includes(name)
}

/** A ClusterRole of an account that would let it impersonate itself if one field of a rule were right. */
export function selfRole(index: FleetIndex, cluster: string, user: string) {
  const wanted = { verbs: 'impersonate', apiGroups: '', resources: 'users', resourceNames: user }
  const fields = Object.keys(wanted) as (keyof typeof wanted)[]
  for (const { roleRef } of index.bindingsOf(cluster, user, '')) {
    const object = index.platformObject(cluster, `${RBAC_GROUP}/ClusterRole`, '', roleRef.name)
    for (const [at, rule] of (object && readRole(object)?.rules)?.entries() ?? []) {
      const wrong = fields.filter(field => !rule[field].includes(wanted[field]))
      const [field] = wrong
      if (object && field && wrong.length === 1 && rule.resourceNames.length > 0)
        return { object, path: ['rules', at, field] as Path, wanted: wanted[field] }
    }
  }
  return undefined
}
