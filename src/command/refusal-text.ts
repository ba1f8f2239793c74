import type { BailiwickError } from '../errors.ts'
import { code, prose } from '../message/markdown.ts'
import { markdownOf } from '../message/markdown-of.ts'
import { fixOf, typedMessage } from '../message/said.ts'

/** The Markdown reply to a refused command: the reason, and what to write instead. */
export function refusalText(why: BailiwickError | string, lead = 'This cannot be done'): string {
  if (typeof why === 'string') return `${lead}: ${prose(why)}.`
  const { code: reason, fix } = why
  const place = why.origin && why.origin.file !== '' ? ` (${code(`${why.origin.file}:${why.origin.line}`)})` : ''
  return `${lead} (${reason}): ${markdownOf(typedMessage(why))}${place}${fix ? `\n\n${markdownOf(fixOf(why))}` : ''}`
}
