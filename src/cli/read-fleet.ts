import { resolve } from 'node:path'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { assertKnown } from './assert-known.ts'
import { cloneReader, clonesIn, oneAfterTheOther, ownReader } from './clones.ts'
import { CLUSTER_ROOT_HELP, clusterRoot } from './cluster-root.ts'
import { type GivenRepository, givenRepository } from './given-repository.ts'
import { notFollowed, unusedRepositories } from './not-followed.ts'
import type { ParsedOptions } from './parse-options.ts'
import { type RepositoryAddress, repositoryAddress } from './repository-address.ts'
import { rootFolder } from './root-folder.ts'
import { withSyncedAddress } from './synced-address.ts'
import { usageError } from './usage-error.ts'
import { type BuiltFleet, buildCompleteFleet, directoryReader } from './working-sources.ts'

/** The options by which a command says what its fleet is; `readFleet` reads them. */
export const FLEET_OPTIONS = ['repo', 'repos-dir', 'url', 'branch', 'cluster-root'] as const

/** How these options are explained. */
export const FLEET_HELP = `  FLEET          the fleet: a git working copy or a plain folder (default: .)
  --repo URL[#REF]=DIR   folder with the content of another source
  --repos-dir DIR   folder with clones of other sources, each identified by its remote
${CLUSTER_ROOT_HELP}
  --url URL      address of FLEET as Flux sources name it (default: remote origin)
  --branch NAME  branch that FLEET is evaluated as (default: the checked-out one, else the default branch)`

/** A fleet, and its own repository's address ('' where that is not known): places in it are told without the address. */
interface ReadFleet extends BuiltFleet {
  /** The folder that it was read from: the root of its working copy. */
  readonly dir: string
  /** What the folder holds. */
  readonly tree: Tree
  readonly here: string
}

/** Builds the fleet in the folder `fleet` with the sources that `--repo` gives, or the cluster `only` of it. Throws BailiwickError. */
export async function readFleet(
  options: Pick<ParsedOptions, 'one' | 'all'>,
  fleet: string,
  cwd: string,
  only?: string,
): Promise<ReadFleet> {
  const dir = await rootFolder(resolve(cwd, fleet))
  const read = directoryReader()
  const [url, branch] = [options.one('url'), options.one('branch')]
  const stated = await repositoryAddress(dir, { url, branch })
  const tree = await read(dir)
  const address = url === undefined ? withSyncedAddress(stated, tree) : stated
  const repositories = options.all('repo').map(text => givenRepository(text, cwd))
  const clusters = options.all('cluster-root').map(clusterRoot)
  const home = { url: address.url, branch: address.branch, commit: '', tree, clusters }
  const reposDir = options.one('repos-dir')
  const given = reposDir === undefined ? [] : [cloneReader(await clonesIn(resolve(cwd, reposDir)), read)]
  const clones = oneAfterTheOther([...given, ownReader(dir, address.url, read)])
  const build = (name?: string) => buildCompleteFleet(home, [], repositories, read, undefined, undefined, clones, name)
  const built = await build(only)
  // what one cluster does not follow another may
  const isAll = only === undefined || unusedRepositories([built.fleet], repositories).length === 0
  assertFollowed(isAll ? built.fleet : (await build()).fleet, address, repositories)
  return { ...built, dir, tree, here: address.url }
}

/** Throws where the folder is the source of nothing that was built, or a repository was given for nothing. */
function assertFollowed(fleet: Fleet, address: RepositoryAddress, repositories: readonly GivenRepository[]): void {
  if (fleet.clusters.length === 0) return
  const error = notFollowed([fleet], address) ?? unusedRepositories([fleet], repositories)[0]
  if (error) throw error
}

const NO_CLUSTER = 'Name the folder of a fleet repository, or the folder of a cluster with --cluster-root NAME=PATH.'

/** The clusters that `--cluster` means: that one, or all. Throws `usage` for one that there is not. */
export function clustersOf(fleet: Fleet, name: string | undefined, usage: string): string[] {
  const names = fleet.clusters.map(cluster => cluster.name)
  if (names.length === 0) throw usageError(usage, 'no cluster was found in the fleet', NO_CLUSTER)
  if (name === undefined) return names
  assertKnown('cluster', [name], new Set(names))
  return [name]
}
