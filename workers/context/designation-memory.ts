import type { Candidate } from '../../src/designation/designate.ts'

/** The issue in which a record was found, or, without one, what else there was. */
type RememberedDesignation =
  | { readonly repository: number; readonly issue: number }
  | { readonly candidates: readonly Candidate[] }

/** Another process may write a record at any time; the shared count of changes tells sooner, where it is at hand. */
const MAX_AGE_MS = 600_000

/**
 * Where the record of each installation was found last, so that not every repository is asked again. It decides nothing:
 * an issue is read and verified each time.
 */
export class DesignationMemory {
  readonly #known = new Map<number, { readonly at: number; readonly changes: number; value: RememberedDesignation }>()

  /** `changes`: how often designations of the installation were changed, as every process counts it. */
  recall(installation: number, changes: number): RememberedDesignation | undefined {
    const known = this.#known.get(installation)
    return known && known.changes === changes && Date.now() - known.at < MAX_AGE_MS ? known.value : undefined
  }

  note(installation: number, changes: number, value: RememberedDesignation): void {
    this.#known.set(installation, { at: Date.now(), changes, value })
  }

  forget(installation: number): void {
    this.#known.delete(installation)
  }
}

/** The key under which processes count changes of an installation's designation. */
export const changesKey = (installation: number): string => `designation ${installation}`
