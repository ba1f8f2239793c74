import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../../fleet/model/appliers.ts'
import { at, isTrue, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { RBAC_GROUP } from '../../../kube/rbac/binding.ts'
import { userInfo, userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { readBinding } from '../../../kube/rbac/read-binding.ts'
import { isKept } from './deleted-objects.ts'

/** What deletes as an account of a tenant when it goes. */
interface Dependent {
  readonly object: KubeObject
  readonly tenant: string
}

const SUPPORTS: ReadonlySet<string> = new Set([
  '/ServiceAccount',
  '/Namespace',
  '/Secret',
  `${RBAC_GROUP}/RoleBinding`,
  `${RBAC_GROUP}/ClusterRoleBinding`,
  `${RBAC_GROUP}/Role`,
  `${RBAC_GROUP}/ClusterRole`,
])

/** Whether an object may be needed by whoever deletes as an account. */
export const isSupport = (object: KubeObject): boolean => SUPPORTS.has(kindOf(object))

/**
 * What a tenant has on a cluster that needs an object to delete what it applied, and has it no more. `isGone`: the object is
 * deleted; else it is a binding that changed.
 */
export function dependentsOf(
  support: KubeObject,
  isGone: boolean,
  cluster: string,
  before: FleetIndex,
  index: FleetIndex,
): Dependent[] {
  const { namespace, name } = idOf(support)
  switch (kindOf(support)) {
    case '/ServiceAccount':
      return deleting(cluster, namespace, before, index).filter(one => accountIn(one, cluster, before, index) === name)
    case '/Namespace':
      return deleting(cluster, name, before, index)
    case '/Secret':
      return deleting(cluster, namespace, before, index).filter(
        ({ object }) => stringAt(kubeConfigOf(object), ['secretRef', 'name']) === name,
      )
    case `${RBAC_GROUP}/Role`:
    case `${RBAC_GROUP}/ClusterRole`:
      return bindingsTo(support, cluster, before).flatMap(one => withoutRights(one, false, cluster, before, index))
    default:
      return withoutRights(support, isGone, cluster, before, index)
  }
}

/** What stands in a namespace and deletes when it goes; what stays counts as it is after the change. */
function deleting(cluster: string, namespace: string, before: FleetIndex, index: FleetIndex): Dependent[] {
  return applierKinds.flatMap(kind =>
    before.rendered(cluster, kind, namespace).flatMap(({ object, node }): Dependent[] => {
      const { name } = idOf(object)
      const tenant = before.ownerOf(cluster, namespace) ?? before.nodeOf(cluster, object)?.tenant ?? node.tenant
      const now = index.versionsOf(cluster, kind, namespace, name).at(-1)?.object
      return tenant !== undefined && deletes(object, cluster, before) ? [{ object: now ?? object, tenant }] : []
    }),
  )
}

/** As kustomize-controller and helm-controller end: what does not prune, or is suspended, deletes nothing. */
function deletes(object: KubeObject, cluster: string, before: FleetIndex): boolean {
  const isSet = (field: string) => {
    return isTrue(at(object.root, ['spec', field]))
  }
  if (isKept(object) || isSet('suspend')) return false
  if (idOf(object).kind !== 'Kustomization') return true
  const policy = stringAt(object.root, ['spec', 'deletionPolicy']) ?? 'MirrorPrune'
  if (policy === 'MirrorPrune' ? !isSet('prune') : policy === 'Orphan') return false
  const node = before.nodeOf(cluster, object)
  // it has applied nothing, as far as everything of it is seen
  return !node || node.digest === '' || node.source.opaque !== undefined || before.objectsOf(node.key).length > 0
}

/** The account of its own namespace that it deletes as, on its own cluster. */
function accountIn({ object }: Dependent, cluster: string, before: FleetIndex, index: FleetIndex): string | undefined {
  if (kubeConfigOf(object)) return undefined
  return accountOf(object, (index.cluster(cluster) ?? before.cluster(cluster))?.lockdown)
}

/** The bindings that name a role. */
function bindingsTo(role: KubeObject, cluster: string, before: FleetIndex): KubeObject[] {
  const { kind, namespace, name } = idOf(role)
  const all =
    kind === 'Role'
      ? before.rendered(cluster, `${RBAC_GROUP}/RoleBinding`, namespace)
      : ['RoleBinding', 'ClusterRoleBinding'].flatMap(one => before.renderedAnywhere(cluster, `${RBAC_GROUP}/${one}`))
  return all
    .map(({ object }) => object)
    .filter(object => {
      const ref = readBinding(object)?.roleRef
      return ref?.kind === kind && ref.name === name
    })
}

/** Those whose account had rights where it applies, and has none now. Fewer rights are no matter of this rule. */
function withoutRights(
  binding: KubeObject,
  isGone: boolean,
  cluster: string,
  before: FleetIndex,
  index: FleetIndex,
): Dependent[] {
  if (isGone && isKept(binding)) return []
  const { namespace } = idOf(binding)
  const spaces = new Set(
    (readBinding(binding)?.subjects ?? []).flatMap(subject => {
      if (subject.kind === 'ServiceAccount') return [subject.namespace]
      const [, group, flux] = /^(?:system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(subject.name) ?? []
      return [group ?? flux ?? '']
    }),
  )
  return [...spaces].flatMap(space =>
    deleting(cluster, space, before, index).filter(one => {
      const account = accountIn(one, cluster, before, index)
      const user = before.nodeOf(cluster, one.object)?.identity.user ?? userOfAccount(space, account ?? '')
      const places = new Set([space, stringAt(one.object.root, ['spec', 'targetNamespace']) ?? space])
      if (namespace !== '' && !places.has(namespace)) return false
      return holdsRights(before, before, cluster, user, places) && !holdsRights(index, before, cluster, user, places)
    }),
  )
}

function holdsRights(
  index: FleetIndex,
  before: FleetIndex,
  cluster: string,
  user: string,
  places: ReadonlySet<string>,
): boolean {
  const { bindings } = index.authorizer(cluster)
  return ['', ...places].some(place =>
    bindings.of(userInfo(user), place).some(({ binding: { roleRef, namespace } }) => {
      // what everybody has lets nobody delete anything, and a role that the fleet never rendered may be on the cluster
      if (roleRef.name.startsWith('system:')) return false
      const isKnown = index.roleRules(cluster, roleRef, namespace) !== undefined
      return isKnown || before.roleRules(cluster, roleRef, namespace) === undefined
    }),
  )
}
