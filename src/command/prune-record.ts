import { PRINT } from '../approval/mass-prune.ts'
import { code } from '../message/markdown.ts'
import { visible } from '../message/visible.ts'
import { commandError } from './command-error.ts'
import { type RecordText, readRecord, recordText } from './record.ts'

export const APPROVE_PRUNE_USAGE = 'approve-prune DIGEST...'
/** Name of the check run in which our App records it, on the commit of the fleet that is applied. */
export const PRUNE_RUN = 'bailiwick / approve-prune'

const DIGEST = /^[0-9a-f]{32}$/
const MOST = 200
const PRINTS = new RegExp(`^(?:[0-9a-f]{${PRINT}})*$`)
const PRINT_OF = new RegExp(`[0-9a-f]{${PRINT}}`, 'g')

/** Sets of objects that fleet admins allow to be deleted. */
interface PruneRecord {
  /** The last who approved. */
  readonly by: string
  /** ISO time of the comment. */
  readonly at: string
  readonly digests: readonly string[]
  /** Of an approval before a merge: the pull request, and what is approved, see prunePrints. */
  readonly pull?: number
  readonly prints?: readonly string[]
}

/** Reads what stands behind `approve-prune`. Throws `command-input` for anything but digests. */
export function parseApprovePrune(words: readonly string[]): readonly string[] {
  if (words.length > 0 && words.length <= MOST && words.every(word => DIGEST.test(word))) return words
  throw commandError(
    `a digest of 32 hexadecimal digits is needed, at most ${MOST} of them`,
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

/** What the check run holds; undefined for a text that is not one of ours. */
export function readPruneRecord(text: string): PruneRecord | undefined {
  const { by, at, digests, pull, prints } = readRecord(text) ?? {}
  if (typeof by !== 'string' || typeof at !== 'string' || !Array.isArray(digests)) return undefined
  const known = digests.filter(one => typeof one === 'string' && DIGEST.test(one))
  const isBefore = typeof pull === 'number' && typeof prints === 'string' && PRINTS.test(prints)
  return { by, at, digests: known, ...(isBefore ? { pull, prints: prints.match(PRINT_OF) ?? [] } : {}) }
}
