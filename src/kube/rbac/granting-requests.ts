import { display, idOf } from '../object.ts'
import type { AccountRequest, AppliedObjects } from './apply-requests.ts'
import type { Authorizer } from './authorizer.ts'
import { RBAC_GROUP } from './binding.ts'
import { confirmWrite } from './confirm-write.ts'
import { readBinding } from './read-binding.ts'
import { readRole } from './read-role.ts'
import type { UserInfo } from './request.ts'

/**
 * What an account needs besides to write the roles and bindings of a Kustomization: `escalate` for a role that holds more
 * than the account, `bind` for a role that is bound and holds more, or that is not there when the binding is tried first
 * (Kubernetes: RBAC, privilege escalation prevention).
 */
export function grantingRequests(
  authorizer: Authorizer,
  user: UserInfo,
  { objects }: Pick<AppliedObjects, 'objects'>,
): AccountRequest[] {
  const needed: AccountRequest[] = []
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
    const [verb, of] = role
      ? ['escalate', role]
      : ['bind', binding && { ...binding.roleRef, namespace: binding.namespace }]
    if (!of) continue
    const resource = of.kind === 'Role' ? 'roles' : 'clusterroles'
    const request = { verb, apiGroup: RBAC_GROUP, resource, namespace: of.namespace, name: of.name }
    needed.push({ request, without: 'not-applied', about })
  }
  return needed
}
