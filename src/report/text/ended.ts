/** A text with a period at its end, so that a remedy can follow it as a new sentence. Messages of errors have none. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
