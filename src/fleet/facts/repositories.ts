import { oncePer } from '../../base/once-per.ts'
import { artifactPath } from '../../flux/artifact.ts'
import type { Tree } from '../../git/tree.ts'
import type { BrokenSeal, Fleet, FleetNode, FleetRepository } from '../model/fleet.ts'
import { refKey, type SourceRef } from '../model/source-ref.ts'

/** A repository that the fleet reads, at what its source follows. */
export interface EvaluatedRepository {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  readonly tree: Tree
  /** The same before the change; undefined without a comparison, or where it was not read before. */
  readonly before?: Tree
  /** Nodes that read it, parents first; the first one carries what is found in it. */
  readonly nodes: readonly FleetNode[]
  readonly isFleet: boolean
  /** Encrypted files whose MAC does not hold, as far as a key was at hand to check it. */
  readonly brokenSeals?: readonly Pick<BrokenSeal, 'file' | 'why'>[]
}

/** The repositories of a fleet as rules see them; what is not asked for is not looked up. */
export class EvaluatedRepositories {
  readonly #fleet: Fleet
  readonly #before: Fleet | undefined
  readonly #readersOf: ReadersOf
  #trees: ReadonlyMap<string, Tree> | undefined

  /** `readersOf`: the nodes that follow something, if the caller knows them already. */
  constructor(fleet: Fleet, before: Fleet | undefined, readersOf: ReadersOf = readersIn(fleet)) {
    this.#fleet = fleet
    this.#before = before
    this.#readersOf = readersOf
  }

  /** The one at a place of the fleet's list. */
  at(index: number): EvaluatedRepository {
    const one = this.#fleet.repositories[index]!
    const key = followed(one)
    const earlier = this.earlier(index)
    const seals = (this.#fleet.brokenSeals ?? []).filter(seal => followed(seal) === key)
    return {
      url: one.url,
      ref: one.ref,
      tree: one.tree,
      isFleet: index === 0,
      nodes: this.#readersOf(key),
      brokenSeals: seals,
      ...(earlier && { before: earlier }),
    }
  }

  /** Its content before the change. */
  earlier(index: number): Tree | undefined {
    const key = followed(this.#fleet.repositories[index]!)
    const same = this.#before?.repositories[index]
    if (same && followed(same) === key) return same.tree
    this.#trees ??= new Map(this.#before?.repositories.map(one => [followed(one), one.tree]))
    return this.#trees.get(key)
  }
}

/** Nodes by what they follow, in the order of the fleet. */
type ReadersOf = (followed: string) => readonly FleetNode[]

function readersIn({ nodes }: Fleet): ReadersOf {
  let readers: ReadonlyMap<string, readonly FleetNode[]> | undefined
  return key => {
    readers ??= Map.groupBy(nodes, ({ source }) => followed(source))
    return readers.get(key) ?? []
  }
}

/** What is followed, as text; there are many more questions than sources. */
export const followed = oncePer(
  (source: Pick<FleetRepository, 'url' | 'ref'>): string => `${source.url} ${refKey(source.ref)}`,
)

/** Who deploys from which directory of one repository, as the platform declared it: names of tenants, '' for the platform itself. */
export interface Directories {
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
  /** Who holds a directory, or one below it. */
  readonly below: ReadonlyMap<string, ReadonlySet<string>>
}

interface Declared extends Directories {
  readonly holders: Map<string, Set<string>>
  readonly below: Map<string, Set<string>>
}

/** The holder of a directory that is not the tenant's. */
export type DirectoryHolder = 'another tenant' | 'the platform'

/** The directories of every repository, by address: `declaredBy` tells who renders a node's Kustomization. */
export function declaredDirectories(
  nodes: Iterable<FleetNode>,
  declaredBy: (node: FleetNode) => string | undefined,
): ReadonlyMap<string, Directories> {
  const repositories = new Map<string, Declared>()
  for (const node of nodes) {
    // a tenant's own declaration would close the directory for all others
    if (node.source.url === '' || declaredBy(node) !== undefined) continue
    const { holders, below } = repositories.get(node.source.url) ?? { holders: new Map(), below: new Map() }
    repositories.set(node.source.url, { holders, below })
    const path = artifactPath(node.path)
    add(holders, path, node.tenant ?? '')
    for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
      add(below, here, node.tenant ?? '')
    }
  }
  return repositories
}

function add(parties: Map<string, Set<string>>, path: string, party: string): void {
  parties.set(path, (parties.get(path) ?? new Set()).add(party))
}

/** Whether someone else than the tenant and the platform holds a directory below a path that is not the tenant's. */
export function holdsOthersBelow({ holders, below }: Directories, path: string, tenant: string): boolean {
  for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
    if (holders.get(here)?.has(tenant)) return false
  }
  const parties = below.get(path)
  if (!parties) return false
  return parties.size > Number(parties.has(tenant)) + Number(parties.has(''))
}

/** Who else holds a path: the holder of the longest declared path above it; undefined: the tenant or no one. */
export function holderOf({ holders }: Directories, path: string, tenant: string): DirectoryHolder | undefined {
  let holder: DirectoryHolder | undefined
  for (let here: string | undefined = path; here !== undefined; here = parentOf(here)) {
    const found = holders.get(here)
    if (!found) continue
    if (found.has(tenant)) return undefined
    holder ??= found.has('') ? 'the platform' : 'another tenant'
  }
  return holder
}

const parentOf = (path: string) => (path === '' ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/'))))
