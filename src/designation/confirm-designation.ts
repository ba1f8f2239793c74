import type { DesignationFacts } from './designate.ts'
import type { DesignationRecord, FleetChoice } from './designation-record.ts'

/** Why an owner's word cannot be followed. */
interface RefusedDesignation {
  readonly why: string
  readonly fix: string
}

/**
 * The record of an owner's confirmation in the repository `here`: that repository, or all fleets of the organization's
 * file if it lists this one. Its generation is higher than that of every existing record.
 */
export function confirmDesignation(
  facts: Pick<DesignationFacts, 'operator' | 'organization' | 'records'>,
  installation: number,
  here: number,
): Omit<DesignationRecord, 'at'> | RefusedDesignation {
  const { operator, organization, records } = facts
  if (operator.length > 0) {
    const fix = 'Ask the operator to change FLEETS or CLUSTERS_FILE.'
    return { why: 'the operator of this App designates the fleets of this account', fix }
  }
  if (organization.state === 'unreadable') {
    const fix = 'Correct the file, or remove it, then repeat this command.'
    return {
      why: 'bailiwick.yaml of the .github repository is invalid or names a repository that the App cannot read',
      fix,
    }
  }
  const fleets: readonly FleetChoice[] = organization.state === 'present' ? organization.fleets : [{ repository: here }]
  if (!fleets.some(({ repository }) => repository === here)) {
    const fix = 'List this repository there first, or run this command in a repository that the file lists.'
    return { why: 'bailiwick.yaml of the .github repository does not list this repository', fix }
  }
  const generation = Math.max(0, ...records.map(record => record.generation)) + 1
  return { installation, generation, state: 'designated', by: 'owner', fleets }
}
