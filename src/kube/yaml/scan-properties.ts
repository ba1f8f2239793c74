import { isBlankOrEnd, isWordCharacter } from './characters.ts'
import type { Cursor } from './cursor.ts'

/** What may follow a name directly, as libyaml has it. */
const AFTER_NAME = '?:,]}%@`'

/** Reads the name of the anchor or alias at the cursor. Throws `yaml-syntax` where there is none. */
export function scanName(cursor: Cursor): string {
  const from = ++cursor.at
  while (isWordCharacter(cursor.code)) cursor.at++
  const follows = isBlankOrEnd(cursor.code) || AFTER_NAME.includes(cursor.text.charAt(cursor.at))
  if (cursor.at === from || !follows) cursor.fail('an anchor or alias without a name')
  return cursor.text.slice(from, cursor.at)
}

/** Tags on which readers agree, in both spellings. */
const TAGS: ReadonlyMap<string, string> = new Map(
  ['str', 'merge'].flatMap(name => [
    [`!!${name}`, name],
    [`!<tag:yaml.org,2002:${name}>`, name],
  ]),
)

/** Reads the tag at the cursor: `str`, `merge`, or '' for all others. */
export function scanTag(cursor: Cursor): string {
  const from = cursor.at
  while (!isBlankOrEnd(cursor.code)) cursor.at++
  return TAGS.get(cursor.text.slice(from, cursor.at)) ?? ''
}
