/**
 * A checked value as a Markdown code span. Names, addresses and paths of an onboarding have passed checked-names.ts; this
 * holds even for text that has not: no end of the span, no line break, no mention.
 */
export function codeSpan(value: string): string {
  const shown = [...value.slice(0, 300)]
    .map(char => (/[\x20-\x5f\x61-\x7e]/.test(char) ? char : escaped(char)))
    .join('')
  return `\`${shown.replaceAll('|', escaped('|')).trim() || '""'}\``
}

const escaped = (char: string) => `\\u{${char.codePointAt(0)!.toString(16)}}`
