import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { accountOf, applierKinds } from '../../../fleet/model/appliers.ts'

/** The one account as which the platform has Flux act in a namespace; undefined where it has none, or several. */
export function soleReconciler(index: FleetIndex, cluster: string, namespace: string): string | undefined {
  const lockdown = index.cluster(cluster)?.lockdown
  const accounts = new Set<string>()
  for (const kind of applierKinds) {
    for (const { object } of index.platformRendered(cluster, kind, namespace)) {
      const account = accountOf(object, lockdown)
      if (account) accounts.add(account)
    }
  }
  const [only] = accounts
  return accounts.size === 1 ? only : undefined
}
