import { BailiwickError } from '../../base/errors.ts'
import { isInstalledAccount } from '../../flux/installed-rbac.ts'
import { ACCOUNT_FIELD, HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { originAt, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, isSubdomain, type KubeObject } from '../../kube/object.ts'
import { type Authorizer, authorizerOf } from '../../kube/rbac/authorizer.ts'
import { accountOf as accountOfUser, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import type { FleetNode, Identity, Lockdown, NodeSource } from '../model/fleet.ts'
import { accountOf, readServiceAccount } from '../model/kustomization-spec.ts'
import { refKey } from '../model/source-ref.ts'
import type { Sources } from '../sources/sources.ts'
import type { Tenancy } from './tenancy.ts'

/** The owner of a namespace, and the tenant that the platform gave it. */
interface Owners {
  readonly owners: ReadonlyMap<string, string>
  givenTo(namespace: string): string | undefined
}

/** Tenants by what the platform has outside of their namespaces and lets write there and nowhere else. */
export interface Delegated {
  /** By the account. */
  readonly accounts: ReadonlyMap<string, string>
  /** By the key of a node that applies what the platform does not write itself. */
  readonly nodes: ReadonlyMap<string, string>
}

export const NOTHING_DELEGATED: Delegated = { accounts: new Map(), nodes: new Map() }

/**
 * An account that may write only in a tenant's namespaces confines what is applied as it to that tenant.
 * Several tenants are one, named after all of them, see `membersOf`. What is applied as such an account grants nothing
 * here, or it would justify itself.
 */
export function delegated(
  nodes: readonly FleetNode[],
  owners: Owners,
  own: Sources['own'],
  lockdown: Lockdown,
): Delegated {
  const delegating = nodes.filter(node => isDelegating(node, owners, own))
  const untrusted = new Map(delegating.map(node => [node.key, node]))
  const releases = nodes.flatMap(node => releaseAccounts(node, owners, lockdown))
  const accounts = new Map<string, string>()
  const users = new Set([...[...untrusted.values()].map(({ identity }) => identity.user), ...releases])
  for (let isDone = users.size === 0; !isDone; ) {
    const authorizer = authorizerOf(grantsOf(nodes, untrusted))
    accounts.clear()
    isDone = true
    for (const user of users) {
      const tenant = tenantOf(user, authorizer, owners)
      if (tenant !== MORE) {
        if (tenant) accounts.set(user, tenant)
        continue
      }
      for (const [key, { identity }] of untrusted) if (identity.user === user) isDone = !untrusted.delete(key) && isDone
    }
  }
  const byKey = delegating.flatMap(({ key, identity }) => {
    const tenant = accounts.get(identity.user)
    return tenant === undefined ? [] : [[key, tenant] as const]
  })
  return users.size === 0 ? NOTHING_DELEGATED : { accounts, nodes: new Map(byKey) }
}

/** Whether the platform declares a node outside of tenants' namespaces, as an account, for content that it does not write itself. */
const isDelegating = (node: FleetNode, owners: Owners, own: Sources['own']): boolean =>
  node.parent !== undefined &&
  node.identity.impersonated &&
  !isInstalled(node.identity.user) &&
  owners.givenTo(node.namespace) === undefined &&
  (node.tenant === undefined || node.tenant === owners.owners.get(node.namespace)) &&
  (node.source.includes !== undefined || node.source.url !== own.url || refKey(node.source.ref) !== refKey(own.ref))

/** The tenants that a tenant stands for: one, or all those whose namespaces one account may write to. */
export const membersOf = (tenant: string): readonly string[] => tenant.split(',')

function isInstalled(user: string): boolean {
  const account = accountOfUser(user)
  return account !== undefined && isInstalledAccount(account.namespace, account.name)
}

/** The accounts of releases that the platform declares outside of tenants' namespaces. */
function releaseAccounts(node: FleetNode, { owners }: Owners, lockdown: Lockdown): string[] {
  if (node.tenant !== undefined || node.hub !== undefined) return []
  return node.objects.flatMap(object => {
    const { apiVersion, kind, namespace } = idOf(object)
    if (`${groupOf(apiVersion)}/${kind}` !== HELM_RELEASE || owners.has(namespace)) return []
    const account = accountOf(object, lockdown)
    const user = account && userOfAccount(namespace, account)
    return user && !isInstalled(user) ? [user] : []
  })
}

/** The platform's objects on the cluster itself, without what untrusted nodes lead to. */
function* grantsOf(nodes: readonly FleetNode[], untrusted: ReadonlyMap<string, FleetNode>): Iterable<KubeObject> {
  const left = new Set<string>(untrusted.keys())
  for (const { key, parent, tenant, hub, objects, retained = [] } of nodes) {
    if (left.has(parent ?? '')) left.add(key)
    if (left.has(key) || tenant !== undefined || hub !== undefined) continue
    yield* objects
    yield* retained
  }
}

/** No name of a tenant. */
const MORE = '...'
const READS = new Set(['get', 'list', 'watch'])

/** The tenant in whose namespaces alone a user may write; MORE: it may write elsewhere, too. */
function tenantOf(name: string, authorizer: Authorizer, owners: Owners): string | undefined {
  const user = userInfo(name)
  const tenants = new Set<string>()
  for (const namespace of ['', ...authorizer.bindings.namespacesOf(user)]) {
    const own = authorizer.bindings
      .of(user, namespace)
      .filter(({ subject }) => subject.kind !== 'Group' || !/^system:[^:]+$/.test(subject.name))
    const tenant = owners.givenTo(namespace)
    const writes = own.some(({ binding }) => {
      const rules = authorizer.rulesOf(binding.roleRef, binding.namespace)
      // a role that is not visible counts as a tenant's
      return rules ? rules.some(({ verbs }) => verbs.some(verb => !READS.has(verb))) : tenant !== undefined
    })
    if (writes && tenant === undefined) return MORE
    if (writes) tenants.add(tenant!)
  }
  return tenants.size === 0 ? undefined : [...tenants].sort().join(',')
}

/** Tenants by the source object that is theirs, and by the repository that only they deploy from. */
export type TenantRepositories = ReadonlyMap<string, string>

/**
 * What is written by tenants: a source in a namespace that the platform labelled as a tenant's, and the repository of a
 * Kustomization that the platform put there, unless several tenants share it. What a tenant itself follows says nothing:
 * naming the platform's repository would make it theirs.
 */
export function tenantRepositories(
  nodes: readonly FleetNode[],
  tenancy: Tenancy,
  sources: Sources,
  delegated: Delegated,
): TenantRepositories {
  const found = new Map<string, Set<string>>()
  const add = (key: string | undefined, tenant: string) => {
    if (key !== undefined) found.set(key, (found.get(key) ?? new Set()).add(tenant))
  }
  const own = new Set(nodes.flatMap(node => (node.tenant === undefined ? [node.key] : [])))
  for (const { key, source, namespace, parent } of nodes) {
    const holder = tenancy.givenTo(source.id.split('/')[1] ?? '')
    if (holder !== undefined) add(source.id, holder)
    const tenant = tenancy.givenTo(namespace) ?? delegated.nodes.get(key)
    if (tenant !== undefined && parent !== undefined && own.has(parent)) add(keyOf(source, sources), tenant)
  }
  return new Map([...found].flatMap(([key, [tenant, other]]) => (other === undefined && tenant ? [[key, tenant]] : [])))
}

/** The tenant who writes what a source brings, as far as that is known. */
export function authorOf(
  repositories: TenantRepositories,
  source: Pick<NodeSource, 'id' | 'url' | 'ref'>,
  sources: Sources,
): string | undefined {
  const key = keyOf(source, sources)
  return repositories.get(source.id) ?? (key === undefined ? undefined : repositories.get(key))
}

/** Authors of a repository can write every branch of it; of the fleet's own only the tenant's branch is theirs. */
function keyOf({ id, url, ref }: Pick<NodeSource, 'id' | 'url' | 'ref'>, { own }: Sources): string | undefined {
  const isGit = id.startsWith('GitRepository/') || (id.startsWith('OCIRepository/') && url.startsWith('https://'))
  if (url === '' || !isGit) return undefined
  if (url !== own.url) return url
  return refKey(ref) === refKey(own.ref) ? undefined : `${url} ${refKey(ref)}`
}

/** Flux's own account: it applies what names no account where no lockdown holds. It is bound to cluster-admin. */
export const CONTROLLER: Identity = {
  user: 'system:serviceaccount:flux-system:kustomize-controller',
  impersonated: false,
}

/**
 * Who applies a Kustomization: the account it names, else the default of the cluster's lockdown, else Flux's controller
 * itself. Throws `invalid-object` for an invalid name. A blank name is left to the rule `sa-required` for a tenant.
 */
export function identityOf(
  object: KubeObject,
  namespace: string,
  tenant: string | undefined,
  lockdown: Lockdown,
): Identity {
  const path = ACCOUNT_FIELD
  const written = stringAt(object.root, path)
  if (written !== undefined && written !== '' && written.trim() === '') {
    if (tenant !== undefined) return CONTROLLER
    const details = {
      origin: originAt(object.root, path),
      fix: 'Set spec.serviceAccountName to a service account, or remove the field.',
    }
    throw new BailiwickError('invalid-object', 'spec.serviceAccountName: blank', details)
  }
  const name = readServiceAccount(object) ?? lockdown.defaultServiceAccount
  if (!name) return CONTROLLER
  if (!isSubdomain(name)) {
    const details = {
      origin: originAt(object.root, path),
      fix: 'Correct --default-service-account of kustomize-controller.',
    }
    throw new BailiwickError('invalid-object', '--default-service-account: not a valid name', details)
  }
  return { user: `system:serviceaccount:${namespace}:${name}`, impersonated: true }
}
