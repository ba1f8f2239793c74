import type { Fleet, FleetNode, FleetRepository } from '../fleet/model/fleet.ts'
import { refKey } from '../fleet/model/ref.ts'
import type { Tree } from '../git/tree.ts'
import type { EvaluatedRepository } from './evaluated-repository.ts'

/** The repositories of a fleet as rules see them; what is not asked for is not looked up. */
export class EvaluatedRepositories {
  readonly #fleet: Fleet
  readonly #before: Fleet | undefined
  readonly #readersOf: ReadersOf
  #trees: ReadonlyMap<string, Tree> | undefined

  /** `readersOf`: the nodes that follow something, for whoever knows already. */
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

const known = new WeakMap<object, string>()

/** What is followed, as text; there are many more questions than sources. */
export function followed(source: Pick<FleetRepository, 'url' | 'ref'>): string {
  const before = known.get(source)
  if (before !== undefined) return before
  const key = `${source.url} ${refKey(source.ref)}`
  known.set(source, key)
  return key
}
