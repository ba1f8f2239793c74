import { probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'
import { usageError } from './usage-error.ts'

/** Returns the one of these words that an argument is. Throws `usage` with the allowed words and the one that was probably meant. */
export function allowedWord<W extends string>(
  usage: string,
  what: string,
  given: string | undefined,
  words: readonly W[],
): W {
  const list = words.join(', ')
  if (given === undefined || given === '') throw usageError(usage, `${what} is missing. Allowed: ${list}`)
  const found = words.find(word => word === given)
  if (found !== undefined) return found
  const meant = probably(given, words)
  const message = `${what} ${JSON.stringify(visible(given, 100))} is not known. Allowed: ${list}`
  throw usageError(usage, message, meant === undefined ? undefined : `Did you mean ${meant}?`)
}
