import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import type { Tree } from '../../git/tree.ts'
import { count } from '../../report/text/findings.ts'
import { notFollowed, unusedRepositories } from './followed-sources.ts'
import { assertKnown, type Given } from './given.ts'
import type { UsageLine } from './usage.ts'
import {
  clusterRoot,
  type GivenRepository,
  givenRepository,
  type RepositoryAddress,
  repositoryAddress,
  rootFolder,
  SOURCES,
  withSyncedAddress,
} from './working-copy.ts'
import {
  type BuiltFleet,
  buildCompleteFleet,
  cloneReader,
  clonesIn,
  directoryReader,
  oneAfterTheOther,
  ownReader,
} from './working-sources.ts'

/** What defines a command's fleet; `readFleet` reads it. */
export const FLEET: readonly UsageLine[] = [
  ['[FLEET]', 'the fleet: a git working copy or a plain folder (default: .)'],
  ['[--fleet DIR]', 'the same, as in check'],
  ...SOURCES,
  ['[--url URL]', 'address of FLEET as Flux sources name it (default: remote origin)'],
  ['[--branch NAME]', 'branch that FLEET is evaluated as (default: the checked-out one, else the default branch)'],
]

/** A fleet, and its own repository's address ('' if unknown), which is left out of places in it. */
interface ReadFleet extends BuiltFleet {
  /** The folder that it was read from: the root of its working copy. */
  readonly dir: string
  readonly tree: Tree
  readonly here: string
}

/** Builds the fleet that is given with the sources of `--repo`, or only its cluster `only`. Throws BailiwickError. */
export async function readFleet(
  given: Pick<Given, 'one' | 'all'>,
  cwd: string,
  {
    only,
    folder = given.one('FLEET'),
  }: { readonly only?: string | undefined; readonly folder?: string | undefined } = {},
): Promise<ReadFleet> {
  const also = given.one('fleet')
  if (folder !== undefined && also !== undefined)
    throw new BailiwickError('usage', 'FLEET and --fleet are the same', { fix: 'Write one of them.' })
  const dir = await rootFolder(resolve(cwd, folder ?? also ?? '.'))
  const read = directoryReader()
  const [url, branch] = [given.one('url'), given.one('branch')]
  const stated = await repositoryAddress(dir, { url, branch })
  const tree = await read(dir)
  const address = url === undefined ? withSyncedAddress(stated, tree) : stated
  const repositories = given.all('repo').map(text => givenRepository(text, cwd))
  const clusters = given.all('cluster-root').map(clusterRoot)
  const home = { url: address.url, branch: address.branch, commit: '', tree, clusters }
  const reposDir = given.one('repos-dir')
  const own = reposDir === undefined ? [] : [cloneReader(await clonesIn(resolve(cwd, reposDir)), read, [dir])]
  const clones = oneAfterTheOther([...own, ownReader(dir, address.url, read)])
  const build = (name?: string) => buildCompleteFleet(home, [], repositories, read, undefined, undefined, clones, name)
  const built = await build(only)
  // another cluster may follow what this one does not
  const isAll = only === undefined || unusedRepositories([built.fleet], repositories).length === 0
  assertFollowed(isAll ? built.fleet : (await build()).fleet, address, repositories)
  return { ...built, dir, tree, here: address.url }
}

/** Throws if nothing that was built follows the folder, or one of the given repositories. */
function assertFollowed(fleet: Fleet, address: RepositoryAddress, repositories: readonly GivenRepository[]): void {
  if (fleet.clusters.length === 0) return
  const error = notFollowed([fleet], address) ?? unusedRepositories([fleet], repositories)[0]
  if (error) throw error
}

const NO_CLUSTER = 'Name the folder of a fleet repository, or the folder of a cluster with --cluster-root NAME=PATH.'

/** The clusters that `--cluster` means: that one, or all. Throws `usage` for an unknown one. */
export function clustersOf(fleet: Fleet, name: string | undefined, { wrong }: Pick<Given, 'wrong'>): string[] {
  const names = fleet.clusters.map(cluster => cluster.name)
  if (names.length === 0) throw wrong('no cluster was found in the fleet', NO_CLUSTER)
  if (name === undefined) return names
  assertKnown('cluster', [name], new Set(names))
  return [name]
}

/** What names a part of a fleet; `fleetPart` reads it. */
export const PART: readonly [cluster: UsageLine, tenant: UsageLine] = [
  ['[--cluster NAME]...', 'only this cluster (default: all; repeatable)'],
  ['[--tenant NAME]...', 'only this tenant (default: all; repeatable)'],
]

/** What `--cluster` and `--tenant` select. */
interface FleetPart {
  /** The selected clusters; all if none is named. */
  readonly clusters: readonly string[]
  /** The selected tenants; undefined if none is named: all of them, and the platform. */
  readonly tenants?: ReadonlySet<string>
  has(node: Pick<FleetNode, 'cluster' | 'tenant'>): boolean
  /** The last line of a text: what is listed, and how much is not. Empty if nothing is left out. */
  readonly leftOut: readonly string[]
}

/** Reads `--cluster` and `--tenant`. Throws `usage` for an unknown name, or a tenant on none of the clusters. */
export function fleetPart(fleet: Fleet, given: Pick<Given, 'all' | 'wrong'>): FleetPart {
  const names = clustersOf(fleet, undefined, given)
  const [asked, of] = [given.all('cluster'), given.all('tenant')]
  assertKnown('cluster', asked, new Set(names))
  assertKnown('tenant', of, new Set(fleet.tenants.map(({ name }) => name)))
  const on = asked.length === 0 ? names : names.filter(name => asked.includes(name))
  for (const name of of) {
    const there = fleet.tenants.find(one => one.name === name)?.clusters ?? []
    if (there.length > 0 && !there.some(cluster => on.includes(cluster))) {
      const fix = `Name one of its clusters with --cluster: ${there.join(', ')}.`
      throw given.wrong(`tenant ${visible(name)} is not on ${on.join(', ')}`, fix)
    }
  }
  const tenants = of.length === 0 ? undefined : new Set(of)
  return {
    clusters: on,
    ...(tenants ? { tenants } : {}),
    has: ({ cluster, tenant = '' }) => on.includes(cluster) && (!tenants || tenants.has(tenant)),
    leftOut: leftOutLine(fleet, on, tenants),
  }
}

function leftOutLine(fleet: Fleet, on: readonly string[], tenants: ReadonlySet<string> | undefined): string[] {
  const clusters = fleet.clusters.length - on.length
  const others = tenants ? fleet.tenants.filter(({ name }) => !tenants.has(name)).length : 0
  const left = [
    ...(clusters > 0 ? [count(clusters, 'other cluster')] : []),
    ...(others > 0 ? [count(others, 'other tenant')] : []),
    ...(tenants ? ['the platform'] : []),
  ]
  if (left.length === 0) return []
  const only = [
    ...(clusters > 0 ? [`${on.length === 1 ? 'cluster' : 'clusters'} ${on.join(', ')}`] : []),
    ...(tenants ? [`${tenants.size === 1 ? 'tenant' : 'tenants'} ${[...tenants].join(', ')}`] : []),
  ]
  return [visible(`only ${only.join(' and ')}; not listed: ${left.join(', ')}`, 500)]
}
