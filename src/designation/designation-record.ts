import { createHmac, timingSafeEqual } from 'node:crypto'

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
  /** `several`: there were several candidates on the first day, and no owner has designated one. */
  readonly state: 'designated' | 'several'
  readonly by: 'installation' | 'organization' | 'owner'
  readonly fleets: readonly FleetChoice[]
}

const PREFIX = '<!-- bailiwick:designation '
const LINE = /^<!-- bailiwick:designation ([\w-]{1,4000})\.([\w-]{43}) -->$/m
const DOMAIN = 'bailiwick/designation/v1'

/**
 * Formats the record as an invisible Markdown line. `key`: the App's private key, without which a record cannot be
 * forged.
 */
export function designationMarker(record: DesignationRecord, key: string): string {
  const { installation, at, generation, state, by } = record
  const fleets = record.fleets.map(({ repository, branch }) => ({
    repository,
    ...(branch === undefined ? {} : { branch }),
  }))
  const data = Buffer.from(JSON.stringify({ installation, at, generation, state, by, fleets })).toString('base64url')
  return `${PREFIX}${data}.${seal(data, key).toString('base64url')} -->`
}

/** Reads the record in a text; undefined if there is none, or if it was not sealed with this key. */
export function readDesignationMarker(text: string, key: string): DesignationRecord | undefined {
  const [, data, mac] = LINE.exec(text.replaceAll('\r\n', '\n')) ?? []
  if (data === undefined || mac === undefined) return undefined
  const given = Buffer.from(mac, 'base64url')
  const wanted = seal(data, key)
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
  return recordOf(Buffer.from(data, 'base64url').toString('utf8'))
}

/** Sets this marker as the second line of a report, in place of an earlier one. */
export function withDesignationMarker(body: string, marker: string): string {
  const [first = '', ...lines] = body.split('\n')
  return [first, marker, ...lines.filter(line => !line.startsWith(PREFIX))].join('\n')
}

function seal(data: string, key: string): Buffer {
  return createHmac('sha256', createHmac('sha256', key).update(DOMAIN).digest()).update(data).digest()
}

/** What the key sealed is ours, so its shape is what an earlier version wrote; a later version may know more states. */
function recordOf(json: string): DesignationRecord | undefined {
  const record = JSON.parse(json) as DesignationRecord
  const isKnown = ['designated', 'several'].includes(record.state)
  return isKnown && ['installation', 'organization', 'owner'].includes(record.by) ? record : undefined
}
