import { CUT_NOTE, fitBudget, TEXT_BUDGET } from '../text/fit-budget.ts'
import type { Section } from '../text/fold.ts'
import { VISIBLE_LINES } from '../text/fold-rest.ts'
import { type DetailLevel, LEVELS, SHORTENED } from './change-sections.ts'

/**
 * Joins a text that has parts of several lengths: the longest form that fits, and at the shortest as many of its parts as
 * fit. What was left out is said, with the address of the page that has all of it. At most 60,000 characters.
 */
export function fitLevels(head: string, sectionsAt: (level: DetailLevel) => readonly Section[], page?: string): string {
  const more = page === undefined ? undefined : ` [The details page](${page}) has all details.`
  const sizeOf = (sections: readonly Section[]) => sections.reduce((sum, { text }) => sum + text.length + 2, 0)
  const full = sizeOf(sectionsAt('full'))
  const at = (level: DetailLevel): Section[] => {
    const sections = [...sectionsAt(level)]
    if (sizeOf(sections) === full) return sections
    return [{ text: `**Shortened:** ${SHORTENED[level]}.${more ?? ''}`, label: '' }, ...sections]
  }
  const fits = (sections: readonly Section[]) => head.length + sizeOf(sections) <= TEXT_BUDGET - CUT_NOTE
  const sections = LEVELS.map(at).find(fits) ?? at('lines')
  return fitBudget(head, sections, TEXT_BUDGET, more, VISIBLE_LINES)
}
