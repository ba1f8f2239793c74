import type { Origin } from '../../base/origin.ts'
import { work } from '../../base/work.ts'
import type { Field, MapNode } from '../../kube/node.ts'

/**
 * The edits of one object by one step of a build: a map is copied by its first edit, and changed in place by those that follow,
 * so that many edits of a large map do not cost its size each. A copy takes steps, which throws `render-limits` where there are
 * no more. Until the step ends, what was edited stands in one place only; where it does not, call `release`.
 */
export class MapEdits {
  readonly #own = new Set<ReadonlyMap<string, unknown>>()
  readonly #spend: (steps: number) => void

  constructor(spend: (steps: number) => void) {
    this.#spend = spend
  }

  /** The map with another field. */
  set(map: MapNode, key: string, field: Field): MapNode {
    const own = this.#owned(map)
    own.fields.set(key, field)
    return own.map
  }

  /** The map without a field; `by`: the line of a patch that removes it. */
  remove(map: MapNode, key: string, by: Origin): MapNode {
    if (!map.fields.has(key)) return map
    const own = this.#owned(map)
    own.fields.delete(key)
    const { removed } = own.map
    if (removed && this.#own.has(removed)) {
      const known = removed as Map<string, Origin>
      known.set(key, by)
      return own.map
    }
    const copy = new Map(removed).set(key, by)
    this.#own.add(copy)
    return { ...own.map, removed: copy }
  }

  /** An empty map that no one else has. */
  created(origin: Origin): MapNode {
    const fields = new Map<string, Field>()
    this.#own.add(fields)
    return { type: 'map', fields, origin }
  }

  /** What was edited may stand in several places from now on: the next edit copies again. */
  release(): void {
    this.#own.clear()
  }

  #owned(map: MapNode): { readonly map: MapNode; readonly fields: Map<string, Field> } {
    if (this.#own.has(map.fields)) return { map, fields: map.fields as Map<string, Field> }
    this.#spend(map.fields.size >> 3)
    work.copied += map.fields.size
    const fields = new Map(map.fields)
    this.#own.add(fields)
    return { map: { ...map, fields }, fields }
  }
}
