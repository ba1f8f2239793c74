import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { isDeclaredAccount } from '../../../fleet/config/declared-account.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'

/** Whether the platform lets Flux act as an account of a tenant's namespace, or says that something on the cluster makes it. */
export function isOwnReconciler(
  index: FleetIndex,
  config: FleetConfig,
  cluster: string,
  namespace: string,
  name: string,
): boolean {
  if (index.reconciler(cluster, namespace, name) === 'platform') return true
  const ofTenant = index.ownerOf(cluster, namespace) !== undefined
  return isDeclaredAccount(config, { cluster, namespace, name, ofTenant })
}
