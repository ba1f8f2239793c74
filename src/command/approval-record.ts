import { code } from '../message/markdown.ts'
import { visible } from '../message/visible.ts'
import { commandError } from './command-error.ts'
import { type RecordText, readRecord, recordText } from './record.ts'

export const APPROVE_USAGE = 'approve [SHA]'
/** Name of the check run in which our App records it, on the head that was approved. */
export const APPROVAL_RUN = 'bailiwick / approve'

/** A fleet admin gave the required approvals of a head by a command. */
interface ApprovalRecord {
  readonly by: string
  /** ISO time of the comment. */
  readonly at: string
  /** The pull request, and the branch that it aimed at: the same commit elsewhere is another question. */
  readonly pull: number
  readonly base: string
}

const SHA = /^[0-9a-f]{7,40}$/i

/** The first digits of a commit behind `approve`, in lower case. Throws `command-input` for anything else. */
export function parseApprove(words: readonly string[]): string | undefined {
  const [first, ...more] = words
  if (more.length === 0 && (first === undefined || SHA.test(first))) return first?.toLowerCase()
  throw commandError('only a commit may follow', `Write \`/bailiwick ${APPROVE_USAGE}\`.`)
}

/** Formats an approval as the output of a check run. */
export function approvalRecord({ by, at, pull, base }: ApprovalRecord, sha: string): RecordText {
  return {
    title: visible(`${by} approves this commit`, 220),
    summary: `${code(by)} gives the required approvals of ${code(sha.slice(0, 7))} of #${pull} for the merge into ${code(base)} (${code(at)}). It counts for this commit only.`,
    text: recordText({ by, at, pull, base }),
  }
}

/** Reads an approval from the text of its check run; undefined if we did not write it. */
export function readApprovalRecord(text: string): ApprovalRecord | undefined {
  const { by, at, pull, base } = readRecord(text) ?? {}
  if (typeof by !== 'string' || typeof at !== 'string' || typeof pull !== 'number' || typeof base !== 'string')
    return undefined
  return { by, at, pull, base }
}
