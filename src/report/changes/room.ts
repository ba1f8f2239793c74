import type { ObjectChange } from './changes.ts'

/** How much of a change is told in detail; everything is counted. */
export interface Limits {
  readonly nodes: number
  /** Removed objects are told before anything else: they are what cannot be undone. */
  readonly removed: number
  readonly fieldsOfObject: number
  /** Of objects and their fields as JSON. */
  readonly bytes: number
  readonly rights: number
}

export const LIMITS: Limits = { nodes: 400, removed: 1000, fieldsOfObject: 80, bytes: 256 * 1024, rights: 200 }

/** What is left of the limits, and what was left out. */
export class Room {
  readonly limits: Limits
  readonly left = { nodes: 0, objects: 0, fields: 0, rights: 0 }
  #removed: number
  #bytes: number

  constructor(limits: Limits) {
    this.limits = limits
    this.#removed = limits.removed
    this.#bytes = limits.bytes
  }

  /** Whether fields are still worth comparing. */
  get isOpen(): boolean {
    return this.#bytes > 0
  }

  /** The change with as many of its fields as there is room for; undefined where there is none for itself. */
  take(change: ObjectChange): ObjectChange | undefined {
    if (change.change === 'removed') {
      if (this.#removed-- > 0) return change
      this.left.objects++
      return undefined
    }
    for (const one of [this.#cut(change), { ...change, fields: [] }]) {
      const size = JSON.stringify(one).length
      if (size > this.#bytes) continue
      this.#bytes -= size
      this.left.fields += change.fieldCount - one.fields.length
      return one
    }
    this.left.objects++
    return undefined
  }

  #cut(change: ObjectChange): ObjectChange {
    const fields = change.fields.slice(0, this.limits.fieldsOfObject)
    return fields.length === change.fields.length ? change : { ...change, fields }
  }
}
