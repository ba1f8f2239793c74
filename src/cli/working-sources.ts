import { FleetSession } from '../fleet/incremental/fleet-session.ts'
import { addressIn } from '../fleet/model/address-in.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../fleet/model/input.ts'
import type { WantedSource } from '../fleet/model/source-ref.ts'
import type { Tree } from '../git/tree.ts'
import { openWorkingCopy } from '../git/working-copy.ts'
import type { FromClones } from './clones.ts'
import { followedKey, refName, standsForRef } from './followed-sources.ts'
import type { GivenRepository } from './given-repository.ts'

/** Content that lies in memory already: the repository of a tenant, or the fleet's own for those that follow its tags. */
export interface GivenTree {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly branch: string
  readonly tree: Tree
}

/** Reads directories once, however often they are asked for. */
export type ReadDirectory = (dir: string) => Promise<Tree>

/** A reader of folders and working copies that remembers what it has read. */
export function directoryReader(): ReadDirectory {
  const trees = new Map<string, Promise<Tree>>()
  return dir => {
    const known = trees.get(dir) ?? openWorkingCopy(dir)
    trees.set(dir, known)
    return known
  }
}

/** What a change takes from the state that it is compared with. */
export type Compared = Pick<FleetInput, 'config' | 'retain'>

export interface BuiltFleet {
  readonly fleet: Fleet
  readonly input: FleetInput
}

/**
 * Builds the fleet and reads what it turns out to need, until nothing is missing: from `given`, from `repositories`, and
 * from clones, and what nobody gave is opaque. `compared`: what a change takes from the state that it is compared with.
 * `stood`: what was followed before; a tag that something follows anew is not what it will be one day, but what it is.
 * Whoever builds both sides of a comparison in one session renders what they share once.
 */
export async function buildCompleteFleet(
  home: FleetInput['fleet'],
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
  read: ReadDirectory,
  compared: Compared = {},
  session = new FleetSession(),
  fromClones: FromClones = async () => undefined,
  only?: string,
  stood?: ReadonlySet<string>,
): Promise<BuiltFleet> {
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  const own = [...given, home]
  for (;;) {
    const input = {
      fleet: home,
      sources: [...sources],
      opaque: [...opaque],
      ...compared,
      ...(only === undefined ? {} : { only }),
    }
    const fleet = session.build(input)
    if (fleet.wanted.length === 0) return { fleet, input }
    const addressOf = (url: string) => addressIn(fleet.config.aliases, url)
    const inFleet = <T extends { readonly url: string }>(all: readonly T[]): T[] =>
      all.map(one => ({ ...one, url: addressOf(one.url) }))
    // each round supplies all that was asked for, so the graph grows or the loop ends; its size is limited in the core
    for (const wanted of fleet.wanted) {
      const named = await find(wanted, inFleet(own), inFleet(repositories), read, stood)
      const found = named ?? (await fromClones(wanted, addressOf))
      if (typeof found === 'string') opaque.push({ ...wanted, reason: found })
      else if (found) sources.push({ ...wanted, commit: '', tree: found })
      else opaque.push({ ...wanted, reason: reasonFor(wanted, inFleet(own), inFleet(repositories)) })
    }
  }
}

async function find(
  { url, ref }: WantedSource,
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
  read: ReadDirectory,
  stood: ReadonlySet<string> | undefined,
): Promise<Tree | undefined> {
  const same = given.filter(one => one.url === url)
  const others = repositories.filter(one => one.url === url)
  const own = same.find(one => one.branch === ref.branch)
  const named = others.find(one => one.ref === refName(ref))
  if (own || named) return own ? own.tree : read(named!.dir)
  const isNew = stood !== undefined && !stood.has(followedKey({ url, ref }))
  const future = isNew ? undefined : same.find(one => standsForRef(one.branch, ref))
  const rest = others.find(one => one.ref === undefined)
  return future ? future.tree : rest && read(rest.dir)
}

function reasonFor(
  wanted: WantedSource,
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
): string {
  const refs = [
    ...given.filter(one => one.url === wanted.url).map(one => one.branch),
    ...repositories.filter(one => one.url === wanted.url).map(one => one.ref),
  ]
  const [first] = refs
  if (first === undefined) return `not given: --repo ${wanted.url}#${refName(wanted.ref)}=DIR shows it`
  return `it follows ${refName(wanted.ref)}, given is ${refs.join(', ')}`
}
