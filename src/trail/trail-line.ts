import { hash } from 'node:crypto'
import { DECISION_KINDS, type TrailEntry, type TrailRevision } from './trail-entry.ts'

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
