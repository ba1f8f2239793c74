import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { Authorizer } from './authorizer.ts'
import { RBAC_GROUP } from './binding.ts'
import { BindingStore } from './binding-store.ts'
import { DEFAULT_POLICY, type DefaultPolicy } from './default-policy.ts'
import { RoleStore, roleKey } from './role-store.ts'

/**
 * The authorizer of a cluster that holds `objects` (others than roles and bindings are passed over) and what every API
 * server brings. Cheap: objects are only sorted here, and read when a question needs them.
 */
export function authorizerOf(objects: Iterable<KubeObject>, defaults: DefaultPolicy = DEFAULT_POLICY): Authorizer {
  const roles = new Map<string, KubeObject[]>()
  const bindings = new Map<string, KubeObject[]>()
  for (const object of objects) {
    const kind = stringAt(object.root, ['kind'])
    if (kind !== 'Role' && kind !== 'ClusterRole' && kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') continue
    const { apiVersion, namespace, name } = idOf(object)
    if (groupOf(apiVersion) !== RBAC_GROUP) continue
    const own = kind.startsWith('Cluster') ? '' : namespace
    if (own === '' && !kind.startsWith('Cluster')) continue
    if (kind.endsWith('Binding')) push(bindings, own, object)
    else push(roles, roleKey(kind, own, name), object)
  }
  return new Authorizer(new RoleStore(roles, defaults.roles), new BindingStore(bindings, defaults.bindings))
}

function push(map: Map<string, KubeObject[]>, key: string, object: KubeObject): void {
  const list = map.get(key)
  if (list) list.push(object)
  else map.set(key, [object])
}
