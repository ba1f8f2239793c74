import type { BailiwickError } from '../errors.ts'
import { code, prose } from '../message/markdown.ts'

/** The reply to a command that cannot be done, as Markdown: why, and what to write instead. */
export function refusalText(why: BailiwickError | string, lead = 'This cannot be done'): string {
  if (typeof why === 'string') return `${lead}: ${prose(why)}.`
  const { code: reason, message, fix } = why
  const place = why.origin && why.origin.file !== '' ? ` (${code(`${why.origin.file}:${why.origin.line}`)})` : ''
  return `${lead} (${reason}): ${prose(message)}${place}${fix ? `\n\n${prose(fix)}` : ''}`
}
