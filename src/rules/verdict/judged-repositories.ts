import type { Fleet, FleetNode, FleetRepository } from '../../fleet/fleet.ts'
import { refKey } from '../../fleet/ref.ts'
import type { Tree } from '../../git/tree.ts'
import type { JudgedRepository } from '../judged-repository.ts'

/** The repositories of a fleet as rules see them; what is not asked for is not looked up. */
export class JudgedRepositories {
  readonly #fleet: Fleet
  readonly #before: Fleet | undefined
  #trees: ReadonlyMap<string, Tree> | undefined
  #readers: ReadonlyMap<string, readonly FleetNode[]> | undefined

  constructor(fleet: Fleet, before: Fleet | undefined) {
    this.#fleet = fleet
    this.#before = before
  }

  /** The one at a place of the fleet's list. */
  at(index: number): JudgedRepository {
    const one = this.#fleet.repositories[index]!
    const key = followed(one)
    const earlier = this.earlier(index)
    const seals = (this.#fleet.brokenSeals ?? []).filter(seal => followed(seal) === key)
    this.#readers ??= Map.groupBy(this.#fleet.nodes, ({ source }) => followed(source))
    return {
      url: one.url,
      ref: one.ref,
      tree: one.tree,
      isFleet: index === 0,
      nodes: this.#readers.get(key) ?? [],
      brokenSeals: seals.map(seal => seal.file),
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

const known = new WeakMap<object, string>()

/** What is followed, as text; there are many more questions than sources. */
export function followed(source: Pick<FleetRepository, 'url' | 'ref'>): string {
  const before = known.get(source)
  if (before !== undefined) return before
  const key = `${source.url} ${refKey(source.ref)}`
  known.set(source, key)
  return key
}
