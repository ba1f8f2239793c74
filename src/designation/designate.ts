import type { DesignationRecord, FleetChoice } from './designation-record.ts'

/** The content of `bailiwick.yaml` in the organization's `.github` repository. */
export type OrganizationFile =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly why: string }
  | { readonly state: 'present'; readonly fleets: readonly FleetChoice[] }

/** A repository with a `clusters` directory on its default branch. */
export interface Candidate {
  readonly repository: number
  /** Whether it had one when the App was installed, by GitHub's own record of pushes. */
  readonly atInstallation: boolean
  /** Whether an issue of our App's is there that once was its first report. */
  readonly reported: boolean
}

/** The facts that determine which repositories of an installation are fleets. */
export interface DesignationFacts {
  /** What the operator's file and FLEETS name for this account. Undefined in it: not a repository that the App reads. */
  readonly operator: readonly (FleetChoice | undefined)[]
  readonly organization: OrganizationFile
  /** Records of this installation whose author and seal were verified. */
  readonly records: readonly DesignationRecord[]
  /** Ids of the repositories that the App reads. */
  readonly readable: ReadonlySet<number>
  /** Asked for only where nothing else decides. */
  readonly candidates: readonly Candidate[] | undefined
}

type DesignatedBy = 'operator' | DesignationRecord['by']

/** Why nothing is designated although something should be. */
export type UndecidedReason = 'several' | 'unreadable-file' | 'unreachable' | 'conflict'

/** The designated fleets of an installation, and who designated them. */
export type Designation =
  | {
      readonly state: 'designated'
      readonly by: DesignatedBy
      readonly fleets: readonly FleetChoice[]
      /** What `.github` names instead, which no owner has confirmed. */
      readonly pending?: readonly FleetChoice[]
    }
  | {
      readonly state: 'undecided'
      readonly reason: UndecidedReason
      /** The repositories that an owner may choose from. */
      readonly candidates: readonly number[]
      readonly pending?: readonly FleetChoice[]
    }
  /** There is no fleet. Repositories that became candidates after the installation evaluate only themselves. */
  | { readonly state: 'none' }
  /** Ask for the candidates and decide again. */
  | { readonly state: 'needs-candidates' }

/**
 * Determines the fleets: by the operator's settings, else the sealed record of an earlier decision, else the
 * organization's file, else the only candidate at installation. Later content of repositories never changes the result.
 */
export function designate(facts: DesignationFacts): Designation {
  const { operator, organization, records, readable } = facts
  if (operator.length > 0) return reachable('operator', operator, readable)
  const record = newestRecord(records)
  if (record === 'conflict') return { state: 'undecided', reason: 'conflict', candidates: [] }
  if (record) return { ...recorded(record, readable), ...pendingOf(record, organization) }
  if (organization.state === 'present') return reachable('organization', organization.fleets, readable)
  if (organization.state === 'unreadable') return { state: 'undecided', reason: 'unreadable-file', candidates: [] }
  return facts.candidates === undefined ? { state: 'needs-candidates' } : firstDay(facts.candidates, readable)
}

function recorded(record: DesignationRecord, readable: ReadonlySet<number>): Designation {
  if (record.state === 'designated') return reachable(record.by, record.fleets, readable)
  return { state: 'undecided', reason: 'several', candidates: record.fleets.map(({ repository }) => repository) }
}

function pendingOf(record: DesignationRecord, organization: OrganizationFile): { pending?: readonly FleetChoice[] } {
  if (organization.state !== 'present') return {}
  const isSame = record.state === 'designated' && sameFleets(record.fleets, organization.fleets)
  return isSame ? {} : { pending: organization.fleets }
}

/** One fleet that cannot be read leaves everything that it deploys from unevaluated: nothing may pass for it. */
function reachable(
  by: DesignatedBy,
  fleets: readonly (FleetChoice | undefined)[],
  readable: ReadonlySet<number>,
): Designation {
  const seen = fleets.filter(fleet => fleet !== undefined && readable.has(fleet.repository)) as FleetChoice[]
  if (seen.length === fleets.length && seen.length > 0) return { state: 'designated', by, fleets: seen }
  return { state: 'undecided', reason: 'unreachable', candidates: [] }
}

function firstDay(candidates: readonly Candidate[], readable: ReadonlySet<number>): Designation {
  const first = candidates.filter(({ atInstallation }) => atInstallation)
  const [only, other] = first
  if (!only) return { state: 'none' }
  // its report without a record: this is not the first day, and whoever came meanwhile changes nothing
  const isPinned = !other && (candidates.length === 1 || only.reported)
  if (isPinned) return reachable('installation', [{ repository: only.repository }], readable)
  return { state: 'undecided', reason: 'several', candidates: candidates.map(({ repository }) => repository) }
}

/** The record with the highest generation; two different records of that generation cancel each other. */
export function newestRecord(records: readonly DesignationRecord[]): DesignationRecord | 'conflict' | undefined {
  const highest = Math.max(...records.map(({ generation }) => generation))
  const [first, ...others] = records.filter(({ generation }) => generation === highest)
  if (!first) return undefined
  const isSame = (one: DesignationRecord) => one.state === first.state && sameFleets(one.fleets, first.fleets)
  return others.every(isSame) ? first : 'conflict'
}

/** Whether two lists name the same fleets, in any order. */
function sameFleets(one: readonly FleetChoice[], other: readonly FleetChoice[]): boolean {
  const keys = (fleets: readonly FleetChoice[]) =>
    JSON.stringify([...new Set(fleets.map(({ repository, branch }) => `${repository} ${branch ?? ''}`))].sort())
  return keys(one) === keys(other)
}
