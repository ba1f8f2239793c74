import { isSubdomain } from '../names.ts'
import { at, type Node } from '../node.ts'
import { idOf, type KubeObject } from '../object.ts'
import { listOf, textOf } from '../read-text.ts'
import { type Binding, type BoundSubject, RBAC_GROUP, type RoleRef } from './binding.ts'
import { accountOf } from './groups-of.ts'
import { isRbacName, soundLabels } from './sound-metadata.ts'

const READ = new WeakMap<KubeObject, Binding | 'refused'>()

/**
 * A RoleBinding or ClusterRoleBinding with the API server's defaults; undefined where it would refuse it, so that it grants
 * nothing (ValidateRoleBinding and ValidateClusterRoleBinding of k8s.io/kubernetes pkg/apis/rbac/validation). Never throws.
 * Many ask about one binding, so each object is read once.
 */
export function readBinding(object: KubeObject): Binding | undefined {
  const known = READ.get(object)
  if (known) return known === 'refused' ? undefined : known
  const binding = read(object)
  READ.set(object, binding ?? 'refused')
  return binding
}

function read(object: KubeObject): Binding | undefined {
  const { kind, namespace, name } = idOf(object)
  const namespaced = kind === 'RoleBinding'
  if ((!namespaced && kind !== 'ClusterRoleBinding') || !soundLabels(object) || (namespaced && !namespace))
    return undefined
  const roleRef = readRoleRef(at(object.root, ['roleRef']))
  const own = namespaced ? namespace : ''
  const subjects = listOf(at(object.root, ['subjects']), item => readSubject(item, own))
  if (!roleRef || !subjects || (!namespaced && roleRef.kind !== 'ClusterRole')) return undefined
  return { kind, namespace: own, name, roleRef, subjects }
}

function readRoleRef(node: Node | undefined): RoleRef | undefined {
  const kind = textOf(at(node, ['kind']))
  const name = textOf(at(node, ['name']))
  const group = textOf(at(node, ['apiGroup']))
  if (group === undefined || !name || !isRbacName(name)) return undefined
  if ((group || RBAC_GROUP) !== RBAC_GROUP || (kind !== 'Role' && kind !== 'ClusterRole')) return undefined
  return { kind, name }
}

function readSubject(node: Node, bindingNamespace: string): BoundSubject | undefined {
  const kind = textOf(at(node, ['kind']))
  const name = textOf(at(node, ['name']))
  const group = textOf(at(node, ['apiGroup']))
  const written = textOf(at(node, ['namespace']))
  if (!name || group === undefined || written === undefined) return undefined
  if (kind === 'ServiceAccount') {
    const namespace = written || bindingNamespace
    return group === '' && isSubdomain(name) && namespace ? { kind, name, namespace } : undefined
  }
  if (kind !== 'User' && kind !== 'Group') return undefined
  // the authorizer compares names: a user that spells an account is that account
  const account = kind === 'User' && (group || RBAC_GROUP) === RBAC_GROUP ? accountOf(name) : undefined
  if (account) return { kind: 'ServiceAccount', ...account }
  return (group || RBAC_GROUP) === RBAC_GROUP ? { kind, name, namespace: '' } : undefined
}
