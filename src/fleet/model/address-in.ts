import { normaliseUrl } from '../../kube/url.ts'

/** By another address of a repository, the address by which the fleet's file calls it; both as normaliseUrl gives them. */
export type Aliases = ReadonlyMap<string, string>

/** The one address of a repository in a fleet: as normaliseUrl gives it, or what the fleet's file says that it stands for. */
export function addressIn(aliases: Aliases, url: string): string {
  const address = normaliseUrl(url)
  return aliases.get(address) ?? address
}
