import type { ObjectChange } from './changes.ts'

/** How much of a change is told in detail; everything is counted. */
export interface Limits {
  readonly nodes: number
  /** Removed objects have a count of their own: they are what cannot be undone. */
  readonly removed: number
  readonly objects: number
  readonly fieldsOfObject: number
  /** Of all fields as JSON. */
  readonly bytes: number
  readonly rights: number
  readonly tenants: number
  /** Clusters that come or go. */
  readonly clusters: number
  /** Clusters, and namespaces, of a tenant. */
  readonly placesOfTenant: number
}

export const LIMITS: Limits = {
  nodes: 400,
  removed: 1000,
  objects: 1000,
  fieldsOfObject: 80,
  bytes: 256 * 1024,
  rights: 200,
  tenants: 200,
  clusters: 100,
  placesOfTenant: 50,
}

/** What is left of the limits, and what was left out. */
export class Room {
  readonly limits: Limits
  readonly left = { nodes: 0, objects: 0, fields: 0, rights: 0, tenants: 0, clusters: 0 }
  #removed: number
  #objects: number
  #bytes: number

  constructor(limits: Limits) {
    this.limits = limits
    this.#removed = limits.removed
    this.#objects = limits.objects
    this.#bytes = limits.bytes
  }

  /** Whether fields are still worth comparing. */
  get isOpen(): boolean {
    return this.#bytes > 0 && this.#objects > 0
  }

  /** The change with as many of its fields as there is room for; undefined where there is none for itself. */
  take(change: ObjectChange): ObjectChange | undefined {
    const hasRoom = change.change === 'removed' || change.fate === 'deleted' ? this.#removed-- > 0 : this.#objects-- > 0
    if (!hasRoom) {
      this.left.objects++
      return undefined
    }
    const fields = change.fields.slice(0, this.limits.fieldsOfObject)
    const size = JSON.stringify(fields).length
    // what does not fit closes the room: who comes first is told, not who is small
    this.#bytes -= size
    const shown = this.#bytes >= 0 ? fields : []
    this.left.fields += change.fieldCount - shown.length
    return shown.length === change.fields.length ? change : { ...change, fields: shown }
  }
}
