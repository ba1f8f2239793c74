import type { Visibility } from '../../src/fleet/model/visibility.ts'
import type { Pushed } from './repository-memory.ts'

/** A repository that the App may read, as GitHub names it. */
export interface ReadableRepository extends Pushed {
  readonly owner: string
  readonly name: string
  /** Normalised by normaliseUrl: how Flux sources name it. */
  readonly url: string
  readonly createdAt: string
  /** Nobody can push to it, and nothing can be said on it. */
  readonly archived: boolean
  readonly visibility: Visibility
}

/** A fleet repository on the branch that clusters follow. */
export interface FleetPlace {
  readonly repository: ReadableRepository
  readonly branch: string
}
