import { BailiwickError } from '../base/errors.ts'
import { sealedLine } from '../base/sealed-line.ts'
import { type Node, stringAt } from '../kube/node.ts'
import { refuseUnknownKeys } from '../kube/read-fields.ts'
import { parseDocuments } from '../kube/yaml/parse-documents.ts'
import { FLEET_NAME, type FleetName, parseFleetName } from './fleet-name.ts'

/** The content of `bailiwick.yaml` in the organization's `.github` repository. */
export type OrganizationFile =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly why: string }
  | { readonly state: 'present'; readonly fleets: readonly FleetChoice[] }

/** The facts that determine which repositories of an installation are fleets. */
export interface DesignationFacts {
  /** What the operator's file and FLEETS name for this account. Undefined in it: not a repository that the App reads. */
  readonly operator: readonly (FleetChoice | undefined)[]
  readonly organization: OrganizationFile
  /** Records of this installation whose author and seal were verified. */
  readonly records: readonly DesignationRecord[]
  /** Ids of the repositories that the App reads. */
  readonly readable: ReadonlySet<number>
  /** Ids of the repositories that look like a fleet. Asked for only where nothing else decides; they decide nothing. */
  readonly candidates: readonly number[] | undefined
}

type DesignatedBy = 'operator' | DesignationRecord['by']

/** Why nothing is designated although something should be. */
export type UndecidedReason = 'undesignated' | 'unreadable-file' | 'unreachable' | 'conflict'

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
  /** No repository looks like a fleet. */
  | { readonly state: 'none' }
  /** Ask for the candidates and decide again. */
  | { readonly state: 'needs-candidates' }

/**
 * Determines the fleets: by the operator's settings, else the sealed record of an earlier decision, else the
 * organization's file. The content of repositories never designates one.
 */
export function designate(facts: DesignationFacts): Designation {
  const { operator, organization, records, readable } = facts
  if (operator.length > 0) return reachable('operator', operator, readable)
  const record = newestRecord(records)
  if (record === 'conflict') return { state: 'undecided', reason: 'conflict', candidates: [] }
  if (record) return { ...reachable(record.by, record.fleets, readable), ...pendingOf(record, organization) }
  if (organization.state === 'present') return reachable('organization', organization.fleets, readable)
  if (organization.state === 'unreadable') return { state: 'undecided', reason: 'unreadable-file', candidates: [] }
  if (facts.candidates === undefined) return { state: 'needs-candidates' }
  if (facts.candidates.length === 0) return { state: 'none' }
  return { state: 'undecided', reason: 'undesignated', candidates: facts.candidates }
}

function pendingOf(record: DesignationRecord, organization: OrganizationFile): { pending?: readonly FleetChoice[] } {
  if (organization.state !== 'present') return {}
  return sameFleets(record.fleets, organization.fleets) ? {} : { pending: organization.fleets }
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

/**
 * The record with the highest generation; two different records of that generation cancel each other. Undefined too where the
 * newest one says that several repositories looked like the fleet, as an earlier version wrote it.
 */
export function newestRecord(records: readonly DesignationRecord[]): DesignationRecord | 'conflict' | undefined {
  const highest = Math.max(...records.map(({ generation }) => generation))
  const [first, ...others] = records.filter(one => one.generation === highest && one.state === 'designated')
  if (!first) return undefined
  const isSame = (one: DesignationRecord) => sameFleets(one.fleets, first.fleets)
  return others.every(isSame) ? first : 'conflict'
}

/** Whether two lists name the same fleets, in any order. */
function sameFleets(one: readonly FleetChoice[], other: readonly FleetChoice[]): boolean {
  const keys = (fleets: readonly FleetChoice[]) =>
    JSON.stringify([...new Set(fleets.map(({ repository, branch }) => `${repository} ${branch ?? ''}`))].sort())
  return keys(one) === keys(other)
}

/** Why an owner's choice cannot be applied. */
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

/** A designated fleet, by GitHub's repository id, because a name can move to another repository. */
export interface FleetChoice {
  readonly repository: number
  /** Undefined: its default branch. */
  readonly branch?: string
}

/** The designation of one installation, stored in the App's own first report. */
export interface DesignationRecord {
  readonly installation: number
  /** Id of the repository in which the report stands: a copy elsewhere is not a record. */
  readonly at: number
  /** The highest one of an installation counts: an older record that is put back changes nothing. */
  readonly generation: number
  /** `several`: an earlier version found several candidates; its generation counts still. */
  readonly state: 'designated' | 'several'
  /** `installation`: an earlier version designated the only candidate. */
  readonly by: 'installation' | 'organization' | 'owner'
  readonly fleets: readonly FleetChoice[]
}

/** The record as a line of the report. */
const DESIGNATION = sealedLine<DesignationRecord>('designation', 4_000)

export function designationMarker(record: DesignationRecord, key: string): string {
  const { installation, at, generation, state, by } = record
  const fleets = record.fleets.map(({ repository, branch }) => ({
    repository,
    ...(branch === undefined ? {} : { branch }),
  }))
  return DESIGNATION.write({ installation, at, generation, state, by, fleets }, key)
}

/** Reads the record in a text; undefined if there is none, it was not sealed with this key, or a later version knows its state. */
export function readDesignationMarker(text: string, key: string): DesignationRecord | undefined {
  const record = DESIGNATION.read(text, key)
  if (!record || !['designated', 'several'].includes(record.state)) return undefined
  return ['installation', 'organization', 'owner'].includes(record.by) ? record : undefined
}

/** Sets this marker as the second line of a report, in place of an earlier one. */
export function withDesignationMarker(body: string, marker: string): string {
  const [first = '', ...lines] = body.split('\n')
  return [first, marker, ...lines.filter(line => !line.startsWith(DESIGNATION.prefix))].join('\n')
}

/** The repository and file in which an organization designates its fleets. */
export const ORGANIZATION_REPOSITORY = '.github'
export const DESIGNATION_FILE = 'bailiwick.yaml'

const MAX_FLEETS = 50

/** Reads the fleets under `fleets`. Throws for invalid YAML and for any other key. */
export function readDesignationFile(repository: string, bytes: Uint8Array): FleetName[] {
  const [root, second] = parseDocuments({ repository, path: DESIGNATION_FILE }, bytes)
  if (!root || second) throw wrong('the file', root ? 'has more than one document' : 'is empty')
  if (root.type !== 'map') throw wrong('the file', 'is not a map')
  refuseUnknownKeys(root, '', ['fleets'])
  const list = root.fields.get('fleets')?.value
  if (list?.type !== 'list' || list.items.length === 0) throw wrong('fleets', 'is not a list of repositories')
  if (list.items.length > MAX_FLEETS) throw wrong('fleets', `lists more than ${MAX_FLEETS} repositories`)
  return list.items.map((item, index) => readItem(item, `fleets[${index}]`))
}

function readItem(item: Node, key: string): FleetName {
  const isText = item.type === 'scalar' && typeof item.value === 'string'
  if (!isText && item.type !== 'map') throw wrong(key, 'is not a repository')
  refuseUnknownKeys(item, key, ['repository', 'branch'])
  const branch = stringAt(item, ['branch'])
  if (item.type === 'map' && item.fields.has('branch') && branch === undefined)
    throw wrong(`${key}.branch`, 'is not text')
  const name = isText ? String(item.value) : (stringAt(item, ['repository']) ?? '')
  const read = parseFleetName(branch === undefined ? name : `${name}#${branch}`)
  if (!read) throw wrong(key, 'is not the name of a repository')
  return read
}

function wrong(key: string, what: string): BailiwickError {
  const allowed = `Allowed: fleets, a list of ${FLEET_NAME}.`
  return new BailiwickError('config', `${DESIGNATION_FILE} of ${ORGANIZATION_REPOSITORY}: ${key} ${what}. ${allowed}`, {
    fix: `Correct ${DESIGNATION_FILE} in the repository ${ORGANIZATION_REPOSITORY}.`,
  })
}
