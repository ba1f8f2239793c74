import { ROOT_NAMESPACE } from '../flux/kinds.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { compactString } from '../kube/rbac/policy-rule.ts'
import type { GrantView } from './grant-view.ts'

const CONTROLLERS = new Map(
  ['kustomize-controller', 'helm-controller'].map(name => [userOfAccount(ROOT_NAMESPACE, name), name]),
)

/**
 * The cluster-admin grant that Flux's own manifests give to a controller, if the fleet does not contain them. Undefined
 * for any other user, and if a binding of the fleet covers the controller.
 */
export function fluxGrant(authorizer: Authorizer, user: string): (GrantView & { readonly rule: string }) | undefined {
  const name = CONTROLLERS.get(user)
  const bound = authorizer.bindings.of(userInfo(user), '')
  if (name === undefined || bound.some(({ subject }) => subject.kind !== 'Group')) return undefined
  const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] }
  return {
    subject: `ServiceAccount ${ROOT_NAMESPACE}/${name}`,
    binding: 'ClusterRoleBinding cluster-reconciler-flux-system',
    role: 'ClusterRole cluster-admin',
    clusterWide: true,
    covered: false,
    from: { by: 'flux' },
    rule: compactString(all),
  }
}
