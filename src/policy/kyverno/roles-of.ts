import { at, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { UserInfo } from '../../kube/rbac/request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'

const GROUP = 'rbac.authorization.k8s.io'

interface Roles {
  /** `<namespace>:<name>`. */
  readonly roles: readonly string[]
  readonly clusterRoles: readonly string[]
}

const kept = new WeakMap<readonly KubeObject[], Map<string, Roles>>()

/** The roles that the fleet's bindings give a user for a request in a namespace (pkg/userinfo of Kyverno). */
export function rolesOf(world: AdmissionWorld, user: UserInfo, namespace: string): Roles {
  const bindings = world.objects(`${GROUP}/RoleBinding`, undefined)
  const clusterBindings = world.objects(`${GROUP}/ClusterRoleBinding`, undefined)
  const known = kept.get(bindings) ?? new Map<string, Roles>()
  kept.set(bindings, known)
  const key = JSON.stringify([user.name, user.groups, namespace, clusterBindings.length])
  const found = known.get(key)
  if (found) return found
  const own = bindings.filter(one => binds(one, user, idOf(one).namespace))
  const everywhere = clusterBindings.filter(one => binds(one, user, ''))
  const made = {
    roles: sorted(
      own.filter(one => roleOf(one).kind === 'Role').map(one => `${idOf(one).namespace}:${roleOf(one).name}`),
    ),
    clusterRoles: sorted(
      [...own.filter(one => idOf(one).namespace === namespace), ...everywhere]
        .filter(one => roleOf(one).kind === 'ClusterRole')
        .map(one => roleOf(one).name),
    ),
  }
  known.set(key, made)
  return made
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort()

function roleOf(binding: KubeObject): { readonly kind: string; readonly name: string } {
  const of = (key: string) => stringAt(binding.root, ['roleRef', key]) ?? ''
  return { kind: of('kind'), name: of('name') }
}

function binds(binding: KubeObject, user: UserInfo, namespace: string): boolean {
  const subjects = at(binding.root, ['subjects'])
  return subjects?.type === 'list' && subjects.items.some(subject => isUser(subject, user, namespace))
}

function isUser(subject: Node, user: UserInfo, namespace: string): boolean {
  const [kind, name = '', own] = ['kind', 'name', 'namespace'].map(key => stringAt(subject, [key]))
  if (kind === 'Group') return user.groups.includes(name)
  if (kind === 'User') return user.name === name
  const where = own || namespace
  return kind === 'ServiceAccount' && where !== '' && user.name === `system:serviceaccount:${where}:${name}`
}
