import { code, prose } from '../../message/markdown.ts'
import { fitBudget } from '../text/fit-budget.ts'
import type { Section } from '../text/fold.ts'
import { count } from '../text/headline.ts'
import { shortUrl } from '../text/place.ts'
import { auditSections } from './audit-sections.ts'
import { designationSection } from './designation-section.ts'
import type { FirstReportFacts } from './facts.ts'
import { gateSections } from './gate-sections.ts'
import { legacySections } from './legacy-sections.ts'
import { nextSteps } from './next-steps.ts'
import { sourcesSection } from './sources-section.ts'
import { tenantsSection } from './tenants-section.ts'

/** By this first line the report is found again; only one that our App wrote is taken for it. */
export const REPORT_MARKER = '<!-- bailiwick:first-report -->'

export const REPORT_TITLE = 'Bailiwick: what it found in this fleet'

/**
 * The body of the first report, Markdown under GitHub's limit: the same facts give the same text, and nothing of a time
 * or a commit is in it, so that it is rewritten only when there is something else to say.
 */
export function firstReport(facts: FirstReportFacts): string {
  const sections: Section[] = [
    ...gateSections(facts),
    tenantsSection(facts.survey),
    ...auditSections(facts.survey, facts.url),
    ...legacySections(facts),
    sourcesSection(facts.survey),
  ]
  return fitBudget(
    [lead(facts), designationSection(facts.url, facts.designation), nextSteps(facts)]
      .filter(text => text !== '')
      .join('\n\n'),
    sections.filter(({ text }) => text !== ''),
  )
}

function lead({ url, survey }: FirstReportFacts): string {
  const standing = survey.legacy.reduce((sum, { count: number }) => sum + number, 0)
  const found = [count(survey.clusters.length, 'cluster'), count(survey.tenants.length, 'tenant')].join(', ')
  const what = standing > 0 ? count(standing, 'existing violation') : 'no violations'
  const undecided = survey.errorCount > 0 ? `, ${count(survey.errorCount, 'evaluation error')}` : ''
  return [
    `**${prose(survey.summary, 500)}**`,
    `Bailiwick evaluates every pull request of this fleet and of the repositories that it deploys from. In ${code(shortUrl(url))} it found ${found}, ${what}${undecided}.`,
    '**Existing violations do not block:** a pull request is compared with its base, and only what it adds or makes worse blocks it.',
  ].join('\n\n')
}
