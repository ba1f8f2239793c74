import { accountOf } from '../kube/rbac/groups-of.ts'

/**
 * The namespaces whose accounts own a Capsule Tenant, with the names of those that are owners by name; `owners` as
 * `capsuleOwners` gives them: `ServiceAccount system:serviceaccount:a:b`, `Group system:serviceaccounts:a`.
 */
export function capsuleHomes(owners: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>()
  for (const owner of owners) {
    const [kind = '', name = ''] = owner.split(' ')
    const account = accountOf(name)
    const home = kind === 'Group' ? name.replace(/^system:serviceaccounts:/, '') : account?.namespace
    if (home === undefined) continue
    homes.set(home, [...(homes.get(home) ?? []), ...(account ? [account.name] : [])])
  }
  return homes
}
