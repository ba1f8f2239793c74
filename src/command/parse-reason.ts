import { visible } from '../message/visible.ts'
import { commandError } from './command-error.ts'

const LONGEST = 300

/** Parses a reason: one line without hidden characters. Throws `command-input` if it is missing or too long. */
export function parseReason(words: readonly string[], usage: string): string {
  const reason = visible(words.join(' '), 2 * LONGEST).trim()
  if (!/\p{L}/u.test(reason)) throw commandError('a reason is needed', `Write \`${usage}\``)
  if (reason.length > LONGEST) throw commandError(`the reason has more than ${LONGEST} characters`, 'Shorten it.')
  return reason
}
