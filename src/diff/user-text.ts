import type { Identity } from '../fleet/model/fleet.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'

/** Who applies something, for people: `ServiceAccount apps/dev-team`. */
export function userText({ user, impersonated }: Identity): string {
  if (!impersonated) return "Flux's controller itself (cluster-admin)"
  const account = accountOf(user)
  return account ? `ServiceAccount ${account.namespace}/${account.name}` : `User ${user}`
}
