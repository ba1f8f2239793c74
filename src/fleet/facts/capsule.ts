import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, isTrue, itemsOf, type MapNode, type Node, type Path, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf, type ResourceRequest, type UserInfo, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { textsOf } from '../../kube/read-fields.ts'
import { nodeOf } from '../model/kustomization-spec.ts'
import {
  CAPSULE_GROUP,
  type CapsuleTenant,
  capsuleBindings,
  capsuleLabelOf,
  capsuleReferenceOf,
  homesOf,
  isEquippedByAddon,
  mayCreateNamespace,
  nameOfOwner,
  readCapsuleTenants,
  writtenOwners,
} from '../tenancy/capsule.ts'
import { releasesOf } from './charts.ts'
import { isPlatform } from './object-index.ts'
import type { Rendered } from './object-table.ts'
import { shownObject } from './shown.ts'

type OfKind = (kind: string) => readonly Rendered[]

/** What all render of a kind on one cluster, and what the platform alone does. */
export interface OfKinds {
  readonly rendered: OfKind
  readonly platform: OfKind
}

/** The same of a list that is not kept by its owners. */
export const ofKinds = (rendered: OfKind): OfKinds => ({
  rendered,
  platform: kind => rendered(kind).filter(isPlatform),
})

/** Tenants and TenantOwners among the objects of the platform. */
export const capsuleObjects = (platform: OfKind): KubeObject[] =>
  ['Tenant', 'TenantOwner'].flatMap(kind => platform(`${CAPSULE_GROUP}/${kind}`)).map(({ object }) => object)

/**
 * The Tenant of each namespace of a cluster that Capsule counts as one of it: the ownerReference is written, Capsule's webhook sets it
 * where an owner or an administrator creates the Namespace, or the addon does for the home of an account. What else creates a
 * Namespace, Capsule does not look at, whatever its label. `ownerOf`: the tenant of a namespace.
 */
export function capsuleNamespaces(
  { platform, rendered }: OfKinds,
  ownerOf: (namespace: string) => string | undefined,
): ReadonlyMap<string, string> {
  const objects = capsuleObjects(platform)
  const found = new Map<string, string>()
  if (objects.length === 0) return found
  const owned = ownedTenants(objects)
  const asked = { config: readConfiguration(capsuleSettings(platform)), version: minorOf(capsuleVersion(platform)) }
  const namespaces = rendered('/Namespace')
  const created = new Set(namespaces.filter(isPlatform).map(({ object }) => idOf(object).name))
  for (const one of namespaces) {
    const { name } = idOf(one.object)
    // what the platform creates, no tenant can have created, and no other tenant may
    const isIts = isPlatform(one) || (!created.has(name) && ownerOf(name) === one.node.tenant)
    const tenant = isIts ? assignedTo(one, owned, asked) : undefined
    if (tenant !== undefined && !found.has(name)) found.set(name, tenant)
  }
  for (const { namespace, tenant } of addonAccounts(platform, objects)) found.set(namespace, tenant)
  return found
}

interface Owned {
  readonly tenants: readonly CapsuleTenant[]
  /** By `<kind> <name>`. */
  readonly byOwner: ReadonlyMap<string, readonly { readonly tenant: CapsuleTenant }[]>
}

function ownedTenants(objects: readonly KubeObject[]): Owned {
  const tenants = readCapsuleTenants(objects)
  const named = tenants.flatMap(tenant => tenant.owners.map(owner => ({ owner: nameOfOwner(owner), tenant })))
  return { tenants, byOwner: Map.groupBy(named, ({ owner }) => owner) }
}

function assignedTo(
  { node, object }: Rendered,
  { tenants, byOwner }: Owned,
  { config, version }: { readonly config: CapsuleConfiguration; readonly version: number },
): string | undefined {
  const written = node.tenant === undefined ? capsuleReferenceOf(object) : undefined
  if (written !== undefined) return written
  const { name } = idOf(object)
  const label = capsuleLabelOf(object)
  const user = userInfo(node.identity.user)
  const names = [`ServiceAccount ${user.name}`, `User ${user.name}`, ...user.groups.map(group => `Group ${group}`)]
  const all = names.flatMap(owner => (byOwner.get(owner) ?? []).map(({ tenant }) => tenant))
  const isAdmin = capsuleUse(config, user, version).role === 'administrator'
  const owned = mayCreateNamespace(node.identity, name, byOwner) ? [...new Set(all)] : []
  if (label !== undefined) return (isAdmin ? tenants : owned).find(one => one.name === label)?.name
  if (isAdmin) return undefined
  const isByPrefix = version >= 13 || config.forcesPrefix
  const prefixed = owned.filter(one => isByPrefix && name.startsWith(`${one.name}-`))
  const longest = prefixed.sort((a, b) => b.name.length - a.name.length)[0]
  // of several Capsule refuses a new one without a label: one that is there belongs to the one that no other account owns
  return (longest ?? owned.toSorted((a, b) => homesOf(a).length - homesOf(b).length)[0])?.name
}

/** By name, the owners of Capsule Tenants who may create Namespaces only if a configuration that is not visible lists them. */
export function unseenOwners(
  platform: OfKind,
  { verb, apiGroup, resource }: ResourceRequest,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  const isAsked = apiGroup === '' && resource === 'namespaces' && (verb === 'create' || verb === 'patch')
  if (!isAsked || capsuleSettings(platform).length > 0) return reasons
  for (const { name, owners } of readCapsuleTenants(capsuleObjects(platform))) {
    const tenant = shownObject('Tenant', '', name)
    const reason = `no CapsuleConfiguration is rendered, so whether Capsule lets owners of ${tenant} ${verb} Namespaces is unknown`
    for (const owner of owners) reasons.set(owner.name, reason)
  }
  return reasons
}

/** An account that the addon equips, and the first Tenant that it owns, to which the addon gives its home. */
interface AddonAccount {
  readonly object: KubeObject
  readonly namespace: string
  readonly name: string
  readonly tenant: string
}

function addonAccounts(platform: OfKind, ofCapsule: readonly KubeObject[]): AddonAccount[] {
  const owned = ofCapsule.flatMap(one =>
    writtenOwners(one.root).flatMap(owner => {
      return stringAt(owner, ['kind']) === 'ServiceAccount'
        ? { user: stringAt(owner, ['name']), tenant: idOf(one).name }
        : []
    }),
  )
  const byUser = Map.groupBy(owned, ({ user }) => user)
  return platform('/ServiceAccount').flatMap(({ object }): AddonAccount[] => {
    if (!isEquippedByAddon(object)) return []
    const { namespace, name } = idOf(object)
    const all = byUser.get(userOfAccount(namespace, name)) ?? []
    const tenant = all.map(one => one.tenant).sort()[0]
    return tenant === undefined ? [] : [{ object, namespace, name, tenant }]
  })
}

/**
 * The namespaces whose accounts own a Capsule Tenant, with the names of those that are owners by name; `owners` as
 * `capsuleOwners` gives them: `ServiceAccount system:serviceaccount:a:b`, `Group system:serviceaccounts:a`.
 */
export function capsuleHomes(owners: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>()
  for (const owner of owners) {
    const [kind = '', name = ''] = owner.split(' ')
    const account = accountOf(name)
    const home = kind === 'Group' ? name.replace(/^system:serviceaccounts:/, '') : account?.namespace
    if (home === undefined) continue
    homes.set(home, [...(homes.get(home) ?? []), ...(account ? [account.name] : [])])
  }
  return homes
}

type CapsuleSubject = { readonly kind: string; readonly name: string; readonly namespace?: string }

/** What the CapsuleConfigurations of a cluster say, as one. */
export interface CapsuleConfiguration {
  /** Whether the fleet shows one. */
  readonly isVisible: boolean
  /** The users whose requests Capsule checks, and its administrators: all may create Namespaces. */
  readonly users: readonly CapsuleSubject[]
  readonly administrators: readonly CapsuleSubject[]
  /** Groups whose members it does not look at. */
  readonly ignored: readonly string[]
  readonly forcesPrefix: boolean
  readonly roles: readonly [provisioner: string, deleter: string]
  /** What its administrators are bound to in the namespaces of every Tenant. */
  readonly administratorRoles: readonly string[]
}

export function readConfiguration(settings: readonly CapsuleSettings[]): CapsuleConfiguration {
  const parts = settings.map(({ rendered, path, ...one }) => ({ spec: at(rendered.object.root, path), ...one }))
  const texts = (field: string) => parts.flatMap(({ spec }) => textsOf(at(spec, [field])) ?? [])
  const list = (field: string) =>
    parts.flatMap(({ spec, hasUsers }) => (hasUsers ? itemsOf(at(spec, [field])).flatMap(subjectOf) : []))
  const named = (field: string) => parts.map(({ spec }) => stringAt(spec, ['rbac', field])).find(Boolean)
  const deleter = named('deleter') ?? 'capsule-namespace-deleter'
  const roles = parts
    .map(({ spec }) => textsOf(at(spec, ['rbac', 'administrationClusterRoles'])))
    .find(all => all?.length)
  const groups = parts.flatMap(({ spec, groups: field }) => textsOf(at(spec, [field])) ?? [])
  return {
    isVisible: settings.length > 0,
    users: [
      ...groups.map(name => ({ kind: 'Group', name })),
      ...texts('userNames').map(name => ({ kind: 'User', name })),
      ...list('users'),
    ],
    administrators: list('administrators'),
    ignored: texts('ignoreUserWithGroups'),
    forcesPrefix: parts.some(({ spec }) => isTrue(at(spec, ['forceTenantPrefix']))),
    roles: [named('provisioner') ?? 'capsule-namespace-provisioner', deleter],
    administratorRoles: roles ?? [deleter],
  }
}

function subjectOf(node: Node): CapsuleSubject[] {
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  return kind && name ? [{ kind, name }] : []
}

/** Undefined: Capsule does not look at the requests. */
export type CapsuleRole = 'administrator' | 'user' | undefined

/** How Capsule sees a user. */
export interface CapsuleUse {
  readonly role: CapsuleRole
  /** The administrator's entry, or the one because of which it does not look. */
  readonly by?: string
}

/** What makes an account a user of Capsule without an entry in its configuration. */
interface CapsuleOrigin {
  /** The account lives in a namespace of a Tenant. */
  readonly isMember?: boolean
  /** A TenantOwner names it. */
  readonly isAggregated?: boolean
}

/** How Capsule sees a user (pkg/users of Capsule). `version`: its minor version. */
export function capsuleUse(
  { users, administrators, ignored }: CapsuleConfiguration,
  { name, groups }: UserInfo,
  version: number,
  { isMember = false, isAggregated = false }: CapsuleOrigin = {},
): CapsuleUse {
  const is = (one: CapsuleSubject) => (one.kind === 'Group' ? groups.includes(one.name) : one.name === name)
  const passed = ignored.find(group => groups.includes(group))
  const ignoring = passed === undefined ? undefined : ({ role: undefined, by: passed } as const)
  if (ignoring && version >= 13) return ignoring
  const administrator = administrators.find(is)
  if (administrator) return { role: 'administrator', by: administrator.name }
  if (accountOf(name)?.namespace === 'kube-system') return { role: undefined }
  if (isMember || isAggregated) return { role: 'user' }
  // before 0.13 the first group decides, whatever the names say
  if (users.some(one => one.kind === 'Group' && is(one))) return ignoring ?? { role: 'user' }
  return { role: users.some(is) ? 'user' : undefined }
}

/** Where a cluster names the users whose requests Capsule checks. */
export interface CapsuleSettings {
  readonly rendered: Rendered
  /** Path of the map that holds the fields. */
  readonly path: Path
  /** Name of the list of groups in it. */
  readonly groups: string
  /** Whether this version of Capsule has `users` and `administrators` (0.12): the API server drops what it does not know. */
  readonly hasUsers: boolean
}

/** What Capsule's chart makes a CapsuleConfiguration of. */
const OPTIONS = ['spec', 'values', 'manager', 'options']
const GROUPS = ['capsuleUserGroups', 'userGroups', 'users']

/**
 * The CapsuleConfigurations of a cluster; where there is none, the values of Capsule's chart that name groups. `platform`: what
 * the platform renders of a kind.
 */
export function capsuleSettings(platform: (kind: string) => readonly Rendered[]): CapsuleSettings[] {
  const hasUsers = (capsuleVersion(platform) ?? 12) >= 12
  const own = platform('capsule.clastix.io/CapsuleConfiguration')
  if (own.length > 0) return own.map(rendered => ({ rendered, path: ['spec'], groups: 'userGroups', hasUsers }))
  return platform(HELM_RELEASE).flatMap(rendered => {
    const groups = GROUPS.find(name => at(rendered.object.root, [...OPTIONS, name]))
    return groups === undefined ? [] : [{ rendered, path: OPTIONS, groups, hasUsers }]
  })
}

/**
 * The roles and bindings that Capsule and its addon for Flux make on a cluster (internal/controllers/rbac and tenant of
 * Capsule 0.1 to 0.14, pkg/controller/serviceaccount of capsule-addon-fluxcd). `namespaces`: as capsuleNamespaces gives them.
 */
export function capsuleRbac(
  { platform, rendered }: OfKinds,
  namespaces: ReadonlyMap<string, string>,
): readonly KubeObject[] {
  const ofCapsule = capsuleObjects(platform)
  const settings = capsuleSettings(platform)
  if (ofCapsule.length === 0 && settings.length === 0) return []
  const config = readConfiguration(settings)
  const version = capsuleVersion(platform)
  const anchor = ofCapsule[0] ?? settings[0]!.rendered.object
  const accounts = addonAccounts(platform, ofCapsule)
  const kinds = accounts.length === 0 ? [] : ['ClusterRole', 'ClusterRoleBinding', 'RoleBinding']
  const bound = kinds.flatMap(kind => rendered(`${RBAC_GROUP}/${kind}`))
  // the addon leaves what is there as it is
  const written = new Set(bound.map(({ object }) => display(idOf(object))))
  const [provisioner, deleter] = config.roles
  const members = Map.groupBy(namespaces.keys(), name => namespaces.get(name)!)
  const administrators = config.administrators.map(one => ({ ...one, roles: config.administratorRoles }))
  const isMarked = version !== undefined && version >= 13
  const labels = isMarked ? { 'projectcapsule.dev/created-by': 'rbac-controller' } : {}
  const aggregated = isMarked ? ofCapsule.flatMap(aggregatedOwner) : []
  const verbs = version !== undefined && version < 1.002 ? ['create'] : ['create', 'patch']
  return [
    role(anchor, provisioner, { resources: ['namespaces'], verbs }, labels),
    role(anchor, deleter, { resources: ['namespaces'], verbs: ['delete'] }, labels),
    ...clusterBinding(anchor, provisioner, [...config.users, ...config.administrators, ...aggregated]),
    ...capsuleBindings(ofCapsule, members, version, administrators),
    ...accounts.flatMap(addonRbac).filter(one => !written.has(display(idOf(one)))),
  ]
}

/** An owner whom Capsule counts as its user without an entry in its configuration. */
function aggregatedOwner({ root }: KubeObject): CapsuleSubject[] {
  const [kind, name] = [stringAt(root, ['spec', 'kind']), stringAt(root, ['spec', 'name'])]
  return kind && name && isTrue(at(root, ['spec', 'aggregate'])) ? [{ kind, name }] : []
}

/** What the addon makes for an account. */
function addonRbac({ object, namespace, name }: AddonAccount): KubeObject[] {
  const impersonator = `${namespace}-${name}-impersonator`
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const self = { resources: ['users'], verbs: ['impersonate'], resourceNames: [userOfAccount(namespace, name)] }
  return [
    make(object, 'RoleBinding', { name, namespace }, { roleRef: refTo('cluster-admin'), subjects }),
    role(object, impersonator, self),
    ...clusterBinding(object, impersonator, subjects),
  ]
}

type Fields = Parameters<typeof nodeOf>[0] & object

function make(from: KubeObject, kind: string, metadata: Fields, fields: Fields): KubeObject {
  const plain = { apiVersion: `${RBAC_GROUP}/v1`, kind, metadata, ...fields }
  return { root: nodeOf(plain, from.root.origin) as MapNode, trail: from.trail }
}

const refTo = (name: string) => ({ apiGroup: RBAC_GROUP, kind: 'ClusterRole', name })

const role = (
  from: KubeObject,
  name: string,
  rule: Record<string, readonly string[]>,
  labels: Record<string, string> = {},
): KubeObject => make(from, 'ClusterRole', { name, labels }, { rules: [{ apiGroups: [''], ...rule }] })

function clusterBinding(from: KubeObject, name: string, all: readonly CapsuleSubject[]): KubeObject[] {
  const subjects = all.map(one => {
    const account = one.kind === 'ServiceAccount' && !one.namespace ? accountOf(one.name) : undefined
    return account ? { kind: one.kind, ...account } : { ...one }
  })
  return subjects.length === 0 ? [] : [make(from, 'ClusterRoleBinding', { name }, { roleRef: refTo(name), subjects })]
}

const IMAGE = /\/capsule:v?(\S+)$/
const FORM = /^\D{0,3}0\.(\d+)(?:\.(\d+))?/

/**
 * The version of Capsule that the platform's objects of a cluster install, as minor version and patch in thousandths (0.12.4:
 * 12.004); of a range its start. Undefined: not to be seen. Charts before 0.7 count differently, so they are 0.3.
 */
export function capsuleVersion(platform: (kind: string) => readonly Rendered[]): number | undefined {
  const charts = releasesOf(platform, 'capsule').map(({ version }) => read(version))
  const images = ['apps/Deployment', 'apps/DaemonSet'].flatMap(platform).map(({ object }) => {
    const containers = at(object.root, ['spec', 'template', 'spec', 'containers'])
    const found = containers?.type === 'list' ? containers.items.map(one => stringAt(one, ['image']) ?? '') : []
    return read(found.map(image => IMAGE.exec(image)?.[1]).find(one => one !== undefined))
  })
  const chart = charts.find(one => one !== undefined)
  return images.find(one => one !== undefined) ?? (chart !== undefined && chart < 7 ? 3 : chart)
}

/** The newest minor version whose webhooks are known. */
const NEWEST = 14

/** The minor version of what capsuleVersion gives; the newest known one where nothing shows it. */
export const minorOf = (version: number | undefined): number => Math.floor(version ?? NEWEST)

function read(text: string | undefined): number | undefined {
  const [, minor, patch = '0'] = FORM.exec(text ?? '') ?? []
  return minor === undefined || text?.startsWith('<') ? undefined : Number(minor) + Number(patch) / 1000
}
