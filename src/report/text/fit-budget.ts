import type { Section } from './fold.ts'
import { foldRest } from './fold-rest.ts'

/** Room under GitHub's 65,535 characters for what GitHub or a caller adds. */
export const TEXT_BUDGET = 60_000

/** Room for the last line that says what was left out. */
export const CUT_NOTE = 600

/**
 * Joins sections by blank lines within `budget` characters. What does not fit is left out from the end, whole sections
 * only, and the last line says how many of what are missing, and `more`: where all of it is. A `head` is never left out.
 * Behind `lines` the rest is folded.
 */
export function fitBudget(
  head: string,
  sections: readonly Section[],
  budget: number = TEXT_BUDGET,
  more: string = ' `bailiwick check` on the same commit shows everything.',
  lines: number = Number.POSITIVE_INFINITY,
): string {
  const kept: Section[] = []
  const cut = new Map<string, number>()
  let used = head.length
  for (const section of sections) {
    const { text, label } = section
    if (cut.size === 0 && used + text.length + 2 <= budget - CUT_NOTE) {
      kept.push(section)
      used += text.length + 2
    } else if (label !== '') cut.set(label, (cut.get(label) ?? 0) + 1)
  }
  const shown = foldRest(head, kept, lines)
  return cut.size > 0 ? `${shown}\n\n${cutNote(cut, more)}` : shown
}

function cutNote(cut: ReadonlyMap<string, number>, more: string): string {
  const parts = [...cut].map(([label, number]) => `${number > 1 ? `${number} × ` : ''}${label}`)
  const shown = parts.slice(0, 5)
  const left = parts.length - shown.length
  const rest = left > 0 ? ` and ${left} more kinds` : ''
  return `**Left out for length:** ${shown.join(', ')}${rest}.${more}`
}
