import type { FleetConfig } from '../model/fleet-config.ts'

/**
 * Whether the fleet says that something on the cluster makes this service account. `ofTenant`: the namespace is one of a
 * tenant, which is where an account without a namespace is.
 */
export function isDeclaredAccount(
  { accounts }: Pick<FleetConfig, 'accounts'>,
  account: { readonly cluster: string; readonly namespace: string; readonly name: string; readonly ofTenant: boolean },
): boolean {
  const { cluster, namespace, name, ofTenant } = account
  return accounts.some(
    one =>
      one.name === name &&
      (one.cluster ?? cluster) === cluster &&
      (one.namespace === undefined ? ofTenant : one.namespace === namespace),
  )
}
