import { getHeapStatistics } from 'node:v8'
import { KeptFleet } from './kept-fleet.ts'

const MAX_FLEETS = 4
/** How much of the heap may be taken before everything that is kept is forgotten: an evaluation must never fail for it. */
const MAX_SHARE = 0.7

/** The caches of the fleets that a thread evaluated last, by address and branch. */
export class KeptFleets {
  readonly #kept = new Map<string, KeptFleet>()

  of({ url, branch }: { readonly url: string; readonly branch: string }): KeptFleet {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    if (used > limit * MAX_SHARE) this.#kept.clear()
    const key = JSON.stringify([url, branch])
    const fleet = this.#kept.get(key) ?? new KeptFleet()
    this.#kept.delete(key)
    this.#kept.set(key, fleet)
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MAX_FLEETS) this.#kept.delete(oldest)
    return fleet
  }

  clear(): void {
    this.#kept.clear()
  }

  /** Forgets a fleet: after something unexpected nobody knows what is left of it. */
  forget({ url, branch }: { readonly url: string; readonly branch: string }): void {
    this.#kept.delete(JSON.stringify([url, branch]))
  }
}
