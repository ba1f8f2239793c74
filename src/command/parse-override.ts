import { parseReason } from './parse-reason.ts'

/** How to write it. */
export const OVERRIDE_USAGE = 'override [SHA] REASON'

/** A parsed override command. */
interface OverrideRequest {
  /** First digits of the commit that was looked at, in lower case. */
  readonly sha?: string
  readonly reason: string
}

const SHA = /^[0-9a-f]{7,40}$/i

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
