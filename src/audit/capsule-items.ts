import type { FleetIndex } from '../facts/fleet-index.ts'
import { shown } from '../facts/shown.ts'
import { kubeConfigOf } from '../fleet/model/appliers.ts'
import { isEquippedByAddon } from '../fleet/tenancy/capsule.ts'
import { KUSTOMIZATION, KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import { at, itemsOf, originAt, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { accountOf, userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { capsuleSettings, isCapsuleUser } from '../rules/capsule/support/capsule-settings.ts'
import { capsuleObjects, TENANT } from '../rules/capsule/support/capsule-tenants.ts'
import { type AuditItem, type AuditState, place } from './audit-item.ts'
import type { AuditedCluster } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

/** An account that owns a Capsule Tenant. */
interface Owner {
  readonly index: FleetIndex
  readonly cluster: string
  readonly tenant: KubeObject
  readonly user: string
  readonly namespace: string
  readonly name: string
  /** capsule-addon-fluxcd makes its rights and its kubeconfig. */
  readonly hasAddon: boolean
}

/** What a step of Capsule's recipe for Flux gives an account. */
interface Step {
  readonly check: string
  /** After the names of accounts: what holds for them, and what does not. */
  readonly ok: string
  readonly not: string
  readonly why: string
  readonly fix: string
  readonly stateOf: (owner: Owner) => AuditState
}

const FLUX_OBJECT = { verb: 'patch', apiGroup: KUSTOMIZE_GROUP, resource: 'kustomizations', name: '' } as const

/** The steps of https://projectcapsule.dev (Multi-tenancy the GitOps way), in its order. */
const STEPS: readonly Step[] = [
  {
    check: 'capsule-account',
    ok: 'exists in the fleet, with its namespace',
    not: 'or its namespace is not rendered by the platform',
    why: 'a Tenant whose owner does not exist can be used by no Kustomization',
    fix: 'Add the Namespace and the ServiceAccount to the fleet.',
    stateOf: ({ index, cluster, namespace, name }) =>
      held(
        index.platformObject(cluster, '/Namespace', '', namespace) !== undefined &&
          index.platformObject(cluster, '/ServiceAccount', namespace, name) !== undefined,
      ),
  },
  {
    check: 'capsule-tenant-role',
    ok: 'has a role for custom resources in the namespaces of its Tenant',
    not: 'has no visible role for custom resources in the namespaces of its Tenant',
    why: 'Capsule binds admin, which has no rights on custom resources unless roles are aggregated to it',
    fix: 'Add the account to spec.additionalRoleBindings of its Tenant.',
    stateOf: owner => held(hasRoles(owner)),
  },
  {
    check: 'capsule-home-role',
    ok: 'may write Flux objects in its own namespace',
    not: 'may not write Flux objects in its own namespace, as far as roles are visible',
    why: 'Kustomizations and sources of the tenant stand there, and the namespace is not one of the Tenant',
    fix: 'Add a RoleBinding for the account in its namespace, or annotate the account for capsule-addon-fluxcd.',
    stateOf: ({ index, cluster, user, namespace, hasAddon }) =>
      held(hasAddon || index.authorizer(cluster).allows(userInfo(user), { ...FLUX_OBJECT, namespace })),
  },
  {
    check: 'capsule-user',
    ok: 'is a user of Capsule',
    not: 'is not a user of Capsule, or no CapsuleConfiguration is visible',
    why: "Capsule's webhooks accept every request of an account that its configuration does not name",
    fix: 'Add system:serviceaccounts:<namespace> to spec.userGroups of a CapsuleConfiguration in the fleet.',
    stateOf: ({ index, cluster, user }) =>
      capsuleSettings(index, cluster).length === 0 ? 'unknown' : held(isCapsuleUser(index, cluster, user)),
  },
  {
    check: 'capsule-impersonation',
    ok: "may impersonate itself, as Capsule's proxy asks for",
    not: 'may not impersonate itself, as far as roles are visible',
    why: "Flux sends both the token and the account's name, and Capsule's proxy refuses every request without this right",
    fix: 'Add a ClusterRole with the verb impersonate for users of this name, and bind the account to it.',
    stateOf: ({ index, cluster, user, hasAddon }) => {
      const request = { verb: 'impersonate', apiGroup: '', resource: 'users', name: user }
      return held(hasAddon || index.authorizer(cluster).allows(userInfo(user), request))
    },
  },
  {
    check: 'capsule-kubeconfig',
    ok: 'has a kubeconfig that capsule-addon-fluxcd or the fleet makes',
    not: 'has no visible kubeconfig: the worker or an admin makes its Secret',
    why: "Flux reaches Capsule's proxy by a Secret <account>-kubeconfig, which git cannot hold in the open",
    fix: "List Capsule's proxy with tokens in clusters.yaml of the worker, or run the commands that onboard prints.",
    stateOf: ({ index, cluster, namespace, name, hasAddon }) => {
      const isRendered = index.versionsOf(cluster, '/Secret', namespace, `${name}-kubeconfig`).length > 0
      return hasAddon || isRendered ? 'ok' : 'unknown'
    },
  },
  {
    check: 'capsule-sync',
    ok: "has a Kustomization that uses Capsule's proxy",
    not: "has no Kustomization of the platform that uses Capsule's proxy",
    why: 'without the proxy, Flux cannot list cluster-scoped objects as the tenant',
    fix: 'Add spec.kubeConfig with the Secret <account>-kubeconfig to the Kustomization of the tenant.',
    stateOf: ({ index, cluster, namespace }) =>
      held(
        index
          .platformRendered(cluster, KUSTOMIZATION, namespace)
          .some(({ object }) => kubeConfigOf(object) !== undefined),
      ),
  },
]

const held = (holds: boolean): AuditState => (holds ? 'ok' : 'weak')

/** Lists the steps of the recipe, each with the accounts that own Capsule Tenants and have it, and those that do not. */
export function* capsuleItems({ cluster: { name: cluster }, index, namespaces }: AuditedCluster): Iterable<AuditItem> {
  const owners = capsuleObjects(index, cluster, TENANT).flatMap(({ object }) => ownersOf(object, index, cluster))
  const asked = owners.filter(({ namespace }) => namespaces.includes(namespace))
  for (const { check, ok, not, why, fix, stateOf } of asked.length === 0 ? [] : STEPS) {
    for (const [state, alike] of Map.groupBy(asked, stateOf)) {
      const [{ tenant, namespace, name }] = alike as [Owner]
      const names = fewNames(alike.map(one => shown(`${one.namespace}/${one.name}`)))
      yield {
        check,
        subject: alike.length === 1 ? `${namespace}/${name}` : '',
        state,
        message: `${alike.length === 1 ? 'account' : 'each of the accounts'} ${names} ${state === 'ok' ? ok : not}`,
        why,
        fix: state === 'ok' ? '' : fix,
        origin: place(originAt(tenant.root, ['spec', 'owners'])),
      }
    }
  }
}

function ownersOf(tenant: KubeObject, index: FleetIndex, cluster: string): Owner[] {
  return itemsOf(at(tenant.root, ['spec', 'owners'])).flatMap(owner => {
    const user = stringAt(owner, ['name']) ?? ''
    const account = accountOf(user)
    if (!account) return []
    const object = index.platformObject(cluster, '/ServiceAccount', account.namespace, account.name)
    const hasAddon = object !== undefined && isEquippedByAddon(object)
    return [{ index, cluster, tenant, user, ...account, hasAddon }]
  })
}

function hasRoles({ index, cluster, tenant, user }: Owner): boolean {
  const isAdded = itemsOf(at(tenant.root, ['spec', 'additionalRoleBindings'])).some(binding =>
    itemsOf(at(binding, ['subjects'])).some(one => {
      const name = stringAt(one, ['name']) ?? ''
      return name === user || userOfAccount(stringAt(one, ['namespace']) ?? '', name) === user
    }),
  )
  // the roles of Flux are aggregated to admin, which Capsule binds by default
  const namespaces = index.capsuleNamespacesOf(cluster, idOf(tenant).name)
  const may = (namespace: string) => index.authorizer(cluster).allows(userInfo(user), { ...FLUX_OBJECT, namespace })
  return isAdded || namespaces.some(may)
}
