import { accountOf, applierKinds } from '../fleet/model/appliers.ts'
import type { Lockdown } from '../fleet/model/fleet.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import type { Rendered } from './object-table.ts'

/** Who makes Flux act as an account: the platform, or only the tenant itself. */
export type ReconcilerOf = 'platform' | 'tenant'

/** The same of a namespace of an index. */
export function reconcilersIn(
  index: FleetAnswers,
  cluster: string,
  namespace: string,
): ReturnType<typeof reconcilerAccounts> {
  const owners = index.capsuleHomes(cluster).get(namespace) ?? []
  const rendered = (kind: string) => index.rendered(cluster, kind, namespace)
  return reconcilerAccounts(rendered, index.cluster(cluster)?.lockdown, owners)
}

/**
 * The accounts of a namespace as which Flux acts there, by name: those of its Kustomizations, releases and the like, and the
 * owners of Capsule's Tenants. `rendered`: the objects of a kind in the namespace; `owners`: names of such owners in it.
 */
function reconcilerAccounts(
  rendered: (kind: string) => readonly Rendered[],
  lockdown: Lockdown | undefined,
  owners: Iterable<string>,
): ReadonlyMap<string, ReconcilerOf> {
  const accounts = new Map<string, ReconcilerOf>()
  for (const { node, object } of applierKinds.flatMap(rendered)) {
    const account = accountOf(object, lockdown)
    if (!account || accounts.get(account) === 'platform') continue
    accounts.set(account, node.tenant === undefined ? 'platform' : 'tenant')
  }
  for (const owner of owners) accounts.set(owner, 'platform')
  return accounts
}
