import { EvaluateSession } from '../../src/evaluate/incremental/evaluate-session.ts'
import { MAX_EARLIER } from '../../src/fleet/graph/build-with-earlier.ts'
import { FleetSession } from '../../src/fleet/incremental/fleet-session.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Tree, TreeSnapshot } from '../../src/git/tree.ts'

/** The cache of one fleet between evaluations in a thread; it never changes a result. */
export class KeptFleet {
  readonly session = new EvaluateSession()
  /** For states before those that are evaluated. */
  readonly earlier = new FleetSession(MAX_EARLIER)
  /** Of this evaluation, and of the one before. */
  #trees = new Map<string, Tree>()
  #older: ReadonlyMap<string, Tree> = new Map()

  /** A snapshot opened; one with the same content of the same repository is not opened again. */
  open(url: string, snapshot: TreeSnapshot): Tree {
    const key = `${url} ${snapshot.id}`
    const tree = this.#trees.get(key) ?? this.#older.get(key) ?? openSnapshot(snapshot)
    this.#trees.set(key, tree)
    return tree
  }

  /** Ends an evaluation: trees that neither it nor the one before it read are forgotten. */
  end(): void {
    this.#older = this.#trees
    this.#trees = new Map()
  }
}
