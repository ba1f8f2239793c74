import type { Cluster } from './fleet.ts'

/** Whose namespaces are now; `givenTo`: by the word of the platform. */
interface Owned {
  readonly owners: ReadonlyMap<string, string>
  givenTo(namespace: string): string | undefined
}

/**
 * Namespaces that had a tenant, and that the platform gives to nobody now. One that it gives to another tenant is that
 * one's; one that a tenant made for itself is that tenant's to drop.
 */
export function lostOwners(before: Cluster | undefined, now: Owned): ReadonlyMap<string, string> {
  const isLost = ([namespace, tenant]: readonly [string, string]) =>
    now.owners.get(namespace) !== tenant && now.givenTo(namespace) === undefined && !before?.selfMade?.has(namespace)
  return new Map([...(before?.owners ?? [])].filter(isLost))
}
