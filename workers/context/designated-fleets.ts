import type { Designation } from '../../src/designation/designate.ts'
import type { DesignationRecord } from '../../src/designation/designation-record.ts'
import type { FleetPlace } from './readable-repository.ts'

/** Which repositories of one installation evaluate others, as far as that is decided. */
export interface DesignatedFleets {
  readonly designation: Exclude<Designation, { readonly state: 'needs-candidates' }>
  /** The designated fleets, each on the branch that clusters follow; empty where nothing is decided. */
  readonly fleets: readonly FleetPlace[]
  /** The sealed record that decided; undefined where the operator did, or none is written yet. */
  readonly record: DesignationRecord | undefined
}
