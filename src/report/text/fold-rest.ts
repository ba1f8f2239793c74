import type { Section } from './fold.ts'
import { fold } from './fold.ts'

/** Lines of a text that are shown before everything else is folded. */
export const VISIBLE_LINES = 40

/**
 * A text whose sections are shown as far as `lines` allow, and folded as one behind that. What is in a fold of its own
 * counts as its summary; a heading never stands alone before the fold.
 */
export function foldRest(head: string, sections: readonly Section[], lines: number): string {
  let left = lines - visibleLines(head) - FOLD_LINES
  const total = sections.reduce((sum, { text }) => sum + visibleLines(text) + 1, 0)
  if (total <= left + FOLD_LINES) return [head, ...sections.map(({ text }) => text)].join('\n\n')
  let shown = 0
  for (const { text } of sections) {
    const needed = visibleLines(text) + 1
    if (needed > left) break
    left -= needed
    shown++
  }
  while (shown > 0 && sections[shown - 1]!.label === '') shown--
  const rest = sections.slice(shown)
  const hidden = fold(summaryOf(rest), rest.map(({ text }) => text).join('\n\n'))
  return [head, ...sections.slice(0, shown).map(({ text }) => text), hidden].join('\n\n')
}

/** The fold itself, the blank line before it, and a last line that says what was left out. */
const FOLD_LINES = 6

/** Labels are Markdown, and a summary is HTML: marks of code are left out. */
function summaryOf(sections: readonly Section[]): string {
  const counts = new Map<string, number>()
  for (const { label } of sections) if (label !== '') counts.set(label, (counts.get(label) ?? 0) + 1)
  const parts = [...counts].map(
    ([label, number]) => `${number > 1 ? `${number} × ` : ''}${label.replace(/[^\w .,/()-]/g, '')}`,
  )
  const more = parts.length > 5 ? ` and ${parts.length - 5} more kinds` : ''
  return parts.length === 0 ? 'More' : `More: ${parts.slice(0, 5).join(', ')}${more}`
}

function visibleLines(text: string): number {
  let depth = 0
  let visible = 0
  for (const line of text.split('\n')) {
    if (depth === 0) visible++
    depth += count(line, '<details') - count(line, '</details>')
  }
  return visible
}

const count = (line: string, mark: string) => line.split(mark).length - 1
