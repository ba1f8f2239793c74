import { display } from '../../src/kube/object.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import type { DriftNote } from '../../src/report/drift-note.ts'

/** How many are kept of a cluster: the oldest go first. */
const MAX_NOTES = 200

/** What was changed on a cluster by others and put back, the same of the same object counted. */
export class DriftLog {
  readonly #notes = new Map<string, DriftNote>()
  readonly #now: () => number
  #listener: () => void = () => {}

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Called after each note. */
  onNote(listener: () => void): void {
    this.#listener = listener
  }

  /** `corrected`: what an apply of a node changed that had been applied completely before. */
  note(node: string, corrected: readonly AppliedObject[]): void {
    const last = new Date(this.#now()).toISOString()
    for (const { object, action, drift = { fields: [], managers: [] } } of corrected) {
      const change = action === 'created' ? ('deleted' as const) : ('changed' as const)
      const key = JSON.stringify([node, display(object), change, drift])
      const before = this.#notes.get(key)
      this.#notes.delete(key)
      const times = { count: (before?.count ?? 0) + 1, first: before?.first ?? last, last }
      this.#notes.set(key, { node, object, change, ...drift, ...times })
      const [oldest] = this.#notes.keys()
      if (this.#notes.size > MAX_NOTES && oldest !== undefined) this.#notes.delete(oldest)
    }
    if (corrected.length > 0) this.#listener()
  }

  /** The latest first. */
  get notes(): readonly DriftNote[] {
    return [...this.#notes.values()].reverse()
  }
}
