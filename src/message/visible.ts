import { withoutLogins } from './without-logins.ts'

/** Control, format, bidi, combining, private and unpaired characters, and every space but U+0020: what a reader cannot see or trust. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{M}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/**
 * One line of text that shows what it holds: characters that hide, reorder or break lines become `\u{202e}`, and what is
 * longer than `max` characters ends in a note of how much was left out. Addresses lose their logins. Safe for terminals and log lines; not for
 * Markdown.
 */
export function visible(value: string, max = 300): string {
  // twice the cap is enough for every visible form, and a hostile megabyte is never scanned
  const head = value.slice(0, max * 2)
  const shown = withoutLogins(head).replace(UNSEEN, char => `\\u{${char.codePointAt(0)!.toString(16)}}`)
  if (shown.length <= max && head.length === value.length) return shown
  return `${shown.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}… (${value.length} characters)`
}
