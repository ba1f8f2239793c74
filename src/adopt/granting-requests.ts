import type { FleetNode } from '../fleet/model/fleet.ts'
import { display, idOf } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import { confirmWrite } from '../kube/rbac/confirm-write.ts'
import { readBinding } from '../kube/rbac/read-binding.ts'
import { readRole } from '../kube/rbac/read-role.ts'
import type { UserInfo } from '../kube/rbac/request.ts'
import type { NeededRequest } from './needed-requests.ts'

/**
 * What an account needs besides to write the roles and bindings of a Kustomization: `escalate` for a role that holds more
 * than the account, `bind` for a role that is bound and holds more, or that is not there when the binding is tried first
 * (Kubernetes: RBAC, privilege escalation prevention).
 */
export function grantingRequests(authorizer: Authorizer, user: UserInfo, { objects }: FleetNode): NeededRequest[] {
  const needed: NeededRequest[] = []
  const own = new Set(objects.map(object => display(idOf(object))))
  for (const object of objects) {
    const about = display(idOf(object))
    const refusal = confirmWrite(authorizer, user, object)
    const isRefused = refusal?.reason === 'escalation' || refusal?.reason === 'missing-role'
    const role = readRole(object)
    const binding = readBinding(object)
    // on an empty cluster Flux tries the binding in the same dry run as its Role, which is not there yet
    const isNew = binding?.roleRef.kind === 'Role' && own.has(`Role ${binding.namespace}/${binding.roleRef.name}`)
    if (!isRefused && !isNew) continue
    if (role) {
      const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
      const { namespace, name } = role
      needed.push({ request: { verb: 'escalate', apiGroup: RBAC_GROUP, resource, namespace, name }, about })
    } else if (binding) {
      const resource = binding.roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
      const { name } = binding.roleRef
      const request = { verb: 'bind', apiGroup: RBAC_GROUP, resource, namespace: binding.namespace, name }
      needed.push({ request, about })
    }
  }
  return needed
}
