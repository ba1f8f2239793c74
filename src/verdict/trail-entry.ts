import { hash } from 'node:crypto'

/** What was decided; `gap`: decisions that could not be written. Add, do not rename: entries are kept for ever. */
export const DECISION_KINDS = [
  'verdict',
  'override',
  'waiver',
  'onboarding',
  'approve-prune',
  'apply',
  'gap',
  'approval',
  'hold',
  'unhold',
  'rotation',
  'offboarding',
  'adoption',
  'lockdown',
  'designation',
  'gate',
  'enforcement',
  'move',
  'rename',
  'hand-over',
  'completion',
  'fix',
  // actions of the App itself
  'pull-request',
  'commit',
  'key-added',
  'key-deleted',
] as const

export type DecisionKind = (typeof DECISION_KINDS)[number]

/** A repository at a commit: one member of a revision set. */
export interface TrailRevision {
  /** Normalized address. */
  readonly repository: string
  /** 40 hex digits, or `sha256:` and 64 of an artifact. */
  readonly commit: string
}

/** One decision, before it has a place in the trail. */
export interface TrailDecision {
  /** The same for the same decision, however often it is reported. */
  readonly id: string
  readonly kind: DecisionKind
  /** When it was made: ISO 8601, UTC. */
  readonly at: string
  /** Login of the person; the name of the App where it decided by itself. */
  readonly who: string
  /** Repository that it is about, `owner/name`; for `apply` the commit's. */
  readonly repository: string
  readonly commit?: string
  readonly pull?: number
  /** For `apply`. */
  readonly cluster?: string
  /** `pass`, `fail`, `error`, `applied`, ... */
  readonly result: string
  /** Version of engine and rules that decided. */
  readonly engine: string
  /** Everything that was evaluated; empty where nothing was. */
  readonly revisions: readonly TrailRevision[]
  /** Members of the revision set that are not listed, because the line would be too long. */
  readonly revisionsOmitted?: number
  /** SHA-256 of what was decided, in full: findings, objects, texts. 64 hex digits. */
  readonly digest: string
  /** Of entries of earlier releases: all that a verdict was made from. It is kept as it is, for the hash of its line. */
  readonly inputs?: object
  /** The inputs were not listed, because the line would have been too long. */
  readonly inputsOmitted?: true
}

/** A decision in its place: `previous` is the hash of the line before it, so no earlier line can change unnoticed. */
export interface TrailEntry extends TrailDecision {
  /** From 1, without gaps. */
  readonly seq: number
  readonly previous: string
  /** Id of the fleet's repository on GitHub; an entry is not valid in another fleet's trail. Absent in entries of earlier releases. */
  readonly fleet?: number
}

/** A place of the chain that is known from elsewhere: entry `seq` has a hash that begins so. */
export interface TrailAnchor {
  readonly seq: number
  /** At least 24 hex digits of the hash. */
  readonly hash: string
}

/** The last entry that the App wrote to a trail. */
export interface WrittenEnd extends TrailAnchor {
  /** The commit that added the entry; absent in stores of earlier releases. */
  readonly commit?: string
  /** When that was, in ms; absent in stores of earlier releases. */
  readonly at?: number
}

/** What the first entry has before it. */
export const NO_ENTRY = '0'.repeat(64)

/** The branch of the fleet repository that holds the trail. */
export const TRAIL_BRANCH = 'bailiwick/trail'
/** Its one folder. */
export const TRAIL_FOLDER = 'trail'

/** The file that begins with an entry: its number in ten digits, so that files sort as entries do. */
export const trailFile = (seq: number): string => `${TRAIL_FOLDER}/${String(seq).padStart(10, '0')}.jsonl`

/** A file of the trail as the branch has it. */
export interface TrailFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Bytes of a line: a longer one is written without its inputs and then its revision set, and is never read. */
const MAX_LINE = 1024 * 1024

const HEX_64 = /^[0-9a-f]{64}$/
const COMMIT = /^[0-9a-f]{40}$/
const CONTENT = /^([0-9a-f]{40}|sha256:[0-9a-f]{64})$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/**
 * An entry as its line in the trail, without the line feed: JSON with the fields in one fixed order. Where it would be longer
 * than 1 MiB, its inputs are left out, and then its revision set is counted only.
 */
export function lineOf(entry: TrailEntry): string {
  const line = textOf(entry)
  if (Buffer.byteLength(line) <= MAX_LINE) return line
  if (entry.inputs !== undefined) {
    const { inputs: _inputs, ...rest } = entry
    return lineOf({ ...rest, inputsOmitted: true })
  }
  return textOf({ ...entry, revisions: [], revisionsOmitted: entry.revisions.length })
}

function textOf(entry: TrailEntry): string {
  const { seq, previous, fleet, id, kind, at, who, repository, commit, pull, cluster, result, engine, digest } = entry
  const { revisionsOmitted, inputs, inputsOmitted } = entry
  const revisions = entry.revisions.map(one => ({ repository: one.repository, commit: one.commit }))
  // JSON leaves out what is absent
  return JSON.stringify({
    ...{ seq, previous, fleet, id, kind, at, who, repository, commit, pull, cluster, result, engine, digest },
    ...{ revisions, revisionsOmitted, inputs, inputsOmitted },
  })
}

/** The hash by which the next entry names this line. */
export const hashOfLine = (line: string | Uint8Array): string => hash('sha256', line)

/** The entry of a line; undefined for every text that `lineOf` would not write exactly so. */
export function readLine(line: string): TrailEntry | undefined {
  if (line.length > MAX_LINE) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isEntry(value) && lineOf(value) === line ? value : undefined
  } catch {
    // not JSON, or nested too deep to be written again: the caller reports an unreadable line
    return undefined
  }
}

type Check = (value: unknown) => boolean

const isText: Check = value => typeof value === 'string' && value !== ''
const matches =
  (form: RegExp): Check =>
  value =>
    typeof value === 'string' && form.test(value)
const isCount: Check = value => Number.isSafeInteger(value) && (value as number) > 0
const maybe =
  (check: Check): Check =>
  value =>
    value === undefined || check(value)

const FIELDS: Record<keyof TrailEntry, Check> = {
  seq: isCount,
  previous: matches(HEX_64),
  fleet: maybe(isCount),
  id: isText,
  kind: value => DECISION_KINDS.some(kind => kind === value),
  at: matches(TIME),
  who: isText,
  repository: isText,
  commit: maybe(matches(COMMIT)),
  pull: maybe(isCount),
  cluster: maybe(isText),
  result: isText,
  engine: isText,
  digest: matches(HEX_64),
  revisionsOmitted: maybe(isCount),
  revisions: value => Array.isArray(value) && value.every(isRevision),
  inputs: maybe(value => typeof value === 'object' && value !== null),
  inputsOmitted: maybe(value => value === true),
}

function isEntry(value: unknown): value is TrailEntry {
  if (typeof value !== 'object' || value === null) return false
  const given = value as Record<string, unknown>
  return Object.entries(FIELDS).every(([field, check]) => check(given[field]))
}

function isRevision(value: unknown): value is TrailRevision {
  const { repository, commit } = (value ?? {}) as Partial<TrailRevision>
  return isText(repository) && matches(CONTENT)(commit)
}

const LINE_FEED = 0x0a

/** A line of a file of a trail. */
export interface TrailLine {
  /** From 1. */
  readonly number: number
  readonly hash: string
  /** Undefined for bytes that are not exactly a serialized entry. */
  readonly entry: TrailEntry | undefined
}

/** Whether the last line of a file is complete. */
export const isWhole = (bytes: Uint8Array): boolean => bytes.at(-1) === LINE_FEED

/** The lines of a file of a trail, by their bytes and not by their text: two spellings of one text are two lines. */
export function* trailLines(bytes: Uint8Array): Generator<TrailLine> {
  const all = Buffer.from(bytes)
  let start = 0
  for (let number = 1; start < all.length; number++) {
    const at = all.indexOf(LINE_FEED, start)
    const end = at < 0 ? all.length : at
    const line = all.subarray(start, end)
    const text = line.toString('utf8')
    const entry = Buffer.byteLength(text) === line.length ? readLine(text) : undefined
    yield { number, hash: hashOfLine(line), entry }
    start = end + 1
  }
}

/** The entry in place of decisions that could not wait: only their number is known. */
export function gapDecision(
  lost: number,
  about: Pick<TrailDecision, 'who' | 'repository' | 'engine' | 'at'>,
): TrailDecision {
  const id = `gap ${about.at} ${lost}`
  return { ...about, id, kind: 'gap', result: `${lost} lost`, revisions: [], digest: hash('sha256', id) }
}

const FORM = /~t(\d{1,15})-([0-9a-f]{24})$/
const DIGITS = 24

/** An external id with the position in the trail appended. */
export function withAnchor(externalId: string, { seq, hash }: TrailAnchor): string {
  return `${withoutAnchor(externalId)}~t${seq}-${hash.slice(0, DIGITS)}`
}

/** An external id without the position in the trail. */
export function withoutAnchor(externalId: string): string {
  return externalId.replace(FORM, '')
}

/** The place that an external id notes; undefined for none. */
export function anchorOf(externalId: string): TrailAnchor | undefined {
  const [, seq, hash] = FORM.exec(externalId) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash }
}
