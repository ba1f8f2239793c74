import type { Visibility } from '../fleet/model/source-access.ts'

/** Of which repository a page is, and when it was made. */
export interface PagePlace {
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository; absent where it was unknown. A name can change hands, an id cannot. */
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. Absent: as of a private one. */
  readonly visibility?: Visibility
  /** ISO 8601. */
  readonly at: string
}
