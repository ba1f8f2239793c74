import { visible } from './visible.ts'

/** Longer than any message that we write. */
const MAX_TEXT = 4_000

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** A text as content of an element or between the quotes of an attribute: nothing in it ends the place that it stands in. */
export function htmlText(text: string): string {
  return visible(text, MAX_TEXT).replace(/[&<>"'`]/g, character => ENTITIES[character] ?? '')
}
