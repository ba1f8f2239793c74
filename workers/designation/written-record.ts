import type { DesignationRecord, FleetChoice } from '../../src/designation/designation-record.ts'
import type { DesignatedFleets } from '../context/designated-fleets.ts'

/**
 * The record that the first reports of an installation are to hold, without its place: what was found, or what was decided
 * now. Undefined where the operator decides, or there is nothing to keep.
 */
export function writtenRecord(
  installation: number,
  { designation, record }: DesignatedFleets,
): Omit<DesignationRecord, 'at'> | undefined {
  if (record) return record
  const first = { installation, generation: 1 }
  if (designation.state === 'designated' && designation.by !== 'operator') {
    return { ...first, state: 'designated', by: designation.by, fleets: designation.fleets }
  }
  if (designation.state !== 'undecided' || designation.reason !== 'several') return undefined
  const fleets = designation.candidates.map((repository): FleetChoice => ({ repository }))
  return { ...first, state: 'several', by: 'installation', fleets }
}
