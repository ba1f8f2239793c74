import { code, prose } from '../../base/markup.ts'
import { visible } from '../../base/visible.ts'
import type { OurCheckRun } from '../../github/checks.ts'
import type { PullRequest } from '../../github/pull-request.ts'
import { PRINT } from '../../verdict/mass-prune.ts'
import { commandError, parseReason } from './command-line.ts'

/** Names of the check runs that record decisions of people. Only our App can write its own check runs. */
export const OVERRIDE_RUN = 'bailiwick / override'
export const WAIVER_RUN = 'bailiwick / waiver'

/** Who overrode the check of a head, and why. */
export interface OverrideRecord {
  readonly by: string
  readonly reason: string
  /** ISO time of the comment. */
  readonly at: string
  /** The pull request and its base branch: elsewhere the same commit needs another decision. */
  readonly pull: number
  readonly base: string
  /** The second admin, if GitHub does not show who pushed. */
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
  const { pull, confirmedBy, ...record } = readRecord(text) ?? {}
  const texts = textsOf(record, 'by', 'reason', 'at', 'base')
  if (!texts || typeof pull !== 'number') return undefined
  return { ...texts, pull, ...(typeof confirmedBy === 'string' ? { confirmedBy } : {}) }
}

/** Serializes plain data as the text of a check run. */
export function recordText(data: object): string {
  // no character of it can end the code block
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

/** The texts of these keys of a record; undefined unless each of them is one. */
export function textsOf<K extends string>(
  record: Readonly<Record<string, unknown>>,
  ...keys: readonly K[]
): Readonly<Record<K, string>> | undefined {
  const texts = keys.flatMap(key => (typeof record[key] === 'string' ? [[key, record[key]]] : []))
  return texts.length === keys.length ? Object.fromEntries(texts) : undefined
}

export const APPROVE_USAGE = 'approve [SHA]'
/** Name of the check run in which our App records it, on the head that was approved. */
export const APPROVAL_RUN = 'bailiwick / approve'

/** A fleet admin gave the required approvals of a head by a command. */
interface ApprovalRecord {
  readonly by: string
  /** ISO time of the comment. */
  readonly at: string
  /** The pull request and its base branch: elsewhere the same commit needs another decision. */
  readonly pull: number
  readonly base: string
}

const SHA = /^[0-9a-f]{7,40}$/i

/** Parses the commit prefix after `approve`, in lower case. Throws `command-input` for anything else. */
export function parseApprove(words: readonly string[]): string | undefined {
  const [first, ...more] = words
  if (more.length === 0 && (first === undefined || SHA.test(first))) return first?.toLowerCase()
  throw commandError('the argument is not a commit', `Write \`/bailiwick ${APPROVE_USAGE}\`.`)
}

/** Formats an approval as the output of a check run. */
export function approvalRecord({ by, at, pull, base }: ApprovalRecord, sha: string): RecordText {
  return {
    title: visible(`${by} approves this commit`, 220),
    summary: `${code(by)} gives the required approvals of ${code(sha.slice(0, 7))} of #${pull} for the merge into ${code(base)} (${code(at)}). It counts for this commit only.`,
    text: recordText({ by, at, pull, base }),
  }
}

/** The approval of the present head of a pull request onto its base, among our check runs of that head. */
export function approvalOf(
  pull: Pick<PullRequest, 'number' | 'head' | 'base'>,
  runs: readonly OurCheckRun[],
): ApprovalRecord | undefined {
  const run = runs.find(({ name, headSha }) => name === APPROVAL_RUN && headSha === pull.head.sha)
  const { pull: number, ...record } = (run?.conclusion === 'success' ? readRecord(run.text) : undefined) ?? {}
  const texts = textsOf(record, 'by', 'at', 'base')
  return texts && number === pull.number && texts.base === pull.base.ref ? { ...texts, pull: number } : undefined
}

export const APPROVE_PRUNE_USAGE = 'approve-prune DIGEST...'
/** Name of the check run in which our App records it, on the commit of the fleet that is applied. */
export const PRUNE_RUN = 'bailiwick / approve-prune'

const DIGEST = /^[0-9a-f]{32}$/
const MOST = 200
const PRINTS = new RegExp(`^(?:[0-9a-f]{${PRINT}})*$`)
const PRINT_OF = new RegExp(`[0-9a-f]{${PRINT}}`, 'g')

/** Sets of objects that fleet admins allow to be deleted. */
interface PruneRecord {
  /** The last person who approved. */
  readonly by: string
  /** ISO time of the comment. */
  readonly at: string
  readonly digests: readonly string[]
  /** For an approval before a merge: the pull request and what is approved, see prunePrints. */
  readonly pull?: number
  readonly prints?: readonly string[]
}

/** Parses the digests after `approve-prune`. Throws `command-input` for anything else. */
export function parseApprovePrune(words: readonly string[]): readonly string[] {
  if (words.length > 0 && words.length <= MOST && words.every(word => DIGEST.test(word))) return words
  throw commandError(
    `the arguments are not 1 to ${MOST} digests of 32 hexadecimal digits`,
    `Copy the line from the apply check of the commit: \`/bailiwick ${APPROVE_PRUNE_USAGE}\``,
  )
}

/** The record with more digests, the newest of them kept. */
export function withDigests(before: PruneRecord | undefined, approved: PruneRecord): PruneRecord {
  const digests = [...new Set([...approved.digests, ...(before?.digests ?? [])])]
  return { ...approved, digests: digests.slice(0, MOST) }
}

/** The record as the output of a check run. */
export function pruneRecord({ by, at, digests, pull, prints }: PruneRecord): RecordText {
  const before = pull === undefined || prints === undefined ? {} : { pull, prints: prints.join('') }
  return {
    title: visible(`${by} approves what is deleted`, 220),
    summary: [
      `${code(by)} approves that exactly these sets of objects are deleted (${code(at)}):`,
      ...digests.map(digest => `- ${code(digest)}`),
    ].join('\n'),
    text: recordText({ by, at, digests, ...before }),
  }
}

/** Reads the record of a check run; undefined if we did not write it. */
export function readPruneRecord(text: string): PruneRecord | undefined {
  const { by, at, digests, pull, prints } = readRecord(text) ?? {}
  if (typeof by !== 'string' || typeof at !== 'string' || !Array.isArray(digests)) return undefined
  const known = digests.filter(one => typeof one === 'string' && DIGEST.test(one))
  const isBefore = typeof pull === 'number' && typeof prints === 'string' && PRINTS.test(prints)
  return { by, at, digests: known, ...(isBefore ? { pull, prints: prints.match(PRINT_OF) ?? [] } : {}) }
}

/** Usage of the command. */
export const OVERRIDE_USAGE = 'override [SHA] REASON'

/** A parsed override command. */
interface OverrideRequest {
  /** First digits of the reviewed commit, in lower case. */
  readonly sha?: string
  readonly reason: string
}

/**
 * Parses the arguments of `override`. A first word of 7 to 40 hexadecimal digits that contains a number is a commit, so
 * that a reason may begin with "defaced". Throws `command-input` without a reason.
 */
export function parseOverride(words: readonly string[]): OverrideRequest {
  const [first = '', ...more] = words
  const isSha = SHA.test(first) && /\d/.test(first)
  const reason = parseReason(isSha ? more : words, `/bailiwick ${OVERRIDE_USAGE}`)
  return isSha ? { sha: first.toLowerCase(), reason } : { reason }
}
