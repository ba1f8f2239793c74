import { code, prose } from '../message/markdown.ts'
import { visible } from '../message/visible.ts'

/** Names of the check runs that record decisions of people. Only our App can write its own check runs. */
export const OVERRIDE_RUN = 'bailiwick / override'
export const WAIVER_RUN = 'bailiwick / waiver'

/** Who overrode the check of a head, and why. */
export interface OverrideRecord {
  readonly by: string
  readonly reason: string
  /** ISO time of the comment. */
  readonly at: string
  /** The pull request, and the branch that it aimed at: the same commit elsewhere is another question. */
  readonly pull: number
  readonly base: string
  /** The second admin, where GitHub does not say who pushed. */
  readonly confirmedBy?: string
}

/** The output of a check run that records a decision: a summary for people, and the record as text. */
export interface RecordText {
  readonly title: string
  readonly summary: string
  readonly text: string
}

const FENCE = '```'

/** Formats an override as the output of a check run. */
export function overrideRecord(record: OverrideRecord, sha: string): RecordText {
  const { by, reason, at, pull, base, confirmedBy } = record
  const second = confirmedBy === undefined ? '' : `, confirmed by ${code(confirmedBy)}`
  return {
    title: visible(`Overridden by ${by}: ${reason}`, 220),
    summary: [
      `${code(by)} overrides the verdict of ${code(sha.slice(0, 7))} of #${pull} for the merge into ${code(base)} (${code(at)})${second}.`,
      `- Why: ${prose(reason)}`,
      '- It holds for this commit only. The next push is evaluated again.',
    ].join('\n'),
    text: recordText({ by, reason, at, pull, base, ...(confirmedBy === undefined ? {} : { confirmedBy }) }),
  }
}

/** Formats an override that a second fleet admin must confirm, as the output of a check run that does not pass. */
export function pendingOverride(record: OverrideRecord, sha: string): RecordText {
  const { by, reason } = record
  const { text } = overrideRecord(record, sha)
  return {
    title: visible(`Override by ${by} waits for a second fleet admin: ${reason}`, 220),
    summary: `GitHub does not show who pushed to this branch, so a second fleet admin must confirm the override that ${code(by)} asks for: ${code(`/bailiwick override ${sha.slice(0, 12)} REASON`)}.`,
    text,
  }
}

/** Reads an override from the text of its check run; undefined if we did not write it. */
export function readOverrideRecord(text: string): OverrideRecord | undefined {
  const { by, reason, at, pull, base, confirmedBy } = readRecord(text) ?? {}
  if (typeof by !== 'string' || typeof reason !== 'string' || typeof at !== 'string') return undefined
  if (typeof pull !== 'number' || typeof base !== 'string') return undefined
  return { by, reason, at, pull, base, ...(typeof confirmedBy === 'string' ? { confirmedBy } : {}) }
}

/** Serializes plain data as the text of a check run. */
export function recordText(data: object): string {
  // no character of it can end the block
  return `${FENCE}json\n${JSON.stringify(data).replaceAll('`', '\\u0060')}\n${FENCE}`
}

/** Reads the data that recordText wrote; undefined for any other text. */
export function readRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  const json = /^```json\n(.*)\n```\s*$/.exec(text)?.[1]
  if (json === undefined) return undefined
  try {
    const data: unknown = JSON.parse(json)
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
