import type { AdoptedFile } from './adoption.ts'

/** A pull request: what it writes, and its words. */
export interface FleetChange {
  readonly files: readonly AdoptedFile[]
  readonly title: string
  /** Markdown. */
  readonly body: string
  /** What it is about, as part of the name of a branch. */
  readonly slug: string
}
