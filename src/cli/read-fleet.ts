import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { givenRepository } from './given-repository.ts'
import type { ParsedOptions } from './parse-options.ts'
import { repositoryAddress } from './repository-address.ts'
import { buildCompleteFleet, directoryReader } from './working-sources.ts'

/** The options by which a command says what its fleet is; `readFleet` reads them. */
export const FLEET_OPTIONS = ['repo', 'url', 'branch'] as const

/** How these options are explained. */
export const FLEET_HELP = `  FLEET          the fleet: a git working copy or a plain folder (default: .)
  --repo URL[#REF]=DIR   where the content of another source lies
  --url URL      address of FLEET as Flux sources name it (default: remote origin)
  --branch NAME  branch that FLEET stands for (default: the checked-out one, main for a folder)`

/** A fleet, and its own repository's address ('' where that is not known): places in it are told without the address. */
export interface ReadFleet {
  readonly fleet: Fleet
  readonly here: string
}

/** Builds the fleet in the folder `fleet` with the sources that `--repo` gives. Throws BailiwickError. */
export async function readFleet(
  options: Pick<ParsedOptions, 'one' | 'all'>,
  fleet: string,
  cwd: string,
): Promise<ReadFleet> {
  const dir = resolve(cwd, fleet)
  const read = directoryReader()
  const [url, branch] = [options.one('url'), options.one('branch')]
  const address = await repositoryAddress(dir, {
    ...(url === undefined ? {} : { url }),
    ...(branch === undefined ? {} : { branch }),
  })
  const repositories = options.all('repo').map(text => givenRepository(text, cwd))
  const built = await buildCompleteFleet({ ...address, commit: '', tree: await read(dir) }, [], repositories, read)
  return { fleet: built.fleet, here: address.url }
}

/** The clusters that `--cluster` means: that one, or all. Throws `usage` for one that there is not. */
export function clustersOf(fleet: Fleet, name: string | undefined, usage: string): string[] {
  const names = fleet.clusters.map(cluster => cluster.name)
  const fix = `usage: bailiwick ${usage}`
  if (names.length === 0) throw new BailiwickError('usage', 'there is no clusters/NAME in the fleet', { fix })
  if (name === undefined) return names
  if (names.includes(name)) return [name]
  throw new BailiwickError('usage', `no cluster ${JSON.stringify(name)}; there are: ${names.join(', ')}`, { fix })
}
