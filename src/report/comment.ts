import { BailiwickError } from '../errors.ts'
import { display } from '../kube/object.ts'
import type { Verdict } from '../rules/finding.ts'
import { viewFor } from './audience.ts'
import { checkRunOf } from './check-run.ts'
import { failureText, findingText } from './finding-text.ts'
import { fitBudget, type Section } from './fit-budget.ts'
import { groupFindings } from './group-findings.ts'
import { headlineOf, isNew } from './headline.ts'
import { code, htmlCode, prose } from './markdown.ts'
import { matrixLine } from './matrix.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import { placeOf } from './place.ts'

/** Marks the one comment of ours on a pull request. Anybody can write it: match the author too, and keep no state in it. */
export const COMMENT_MARKER = '<!-- bailiwick:verdict -->'

/**
 * The sticky comment on a pull request: verdict, matrix, next step, and each finding folded. Undefined when there is
 * nothing to say: a comment that exists already should go then. At most 60,000 characters.
 */
export function commentOf(outcome: Outcome, context: ReportContext): string | undefined {
  if (outcome === undefined) return undefined
  if (outcome instanceof BailiwickError) {
    const { title, summary } = checkRunOf(outcome, context)
    return `${COMMENT_MARKER}\n**${prose(title)}**\n\n${fold('Details', summary)}`
  }
  const { verdict, hidden } = viewFor(outcome, context.audience, context.repository, context.nodes)
  const silent = [...verdict.violations, ...verdict.warnings, ...verdict.errors].every(item => !isNew(item))
  if (outcome.result === 'pass' && silent) return undefined
  const icon = outcome.result === 'pass' ? '✅' : outcome.result === 'fail' ? '❌' : '❔'
  const head = [`${COMMENT_MARKER}\n${icon} **${prose(headlineOf({ verdict, hidden }))}**`]
  const line = matrixLine(verdict)
  if (line !== '') head.push(line)
  head.push(nextStep(outcome, verdict, context.repository))
  return fitBudget(head.join('\n\n'), sections(verdict, context.repository))
}

function sections(verdict: Verdict, here: string): Section[] {
  const errors = verdict.errors.filter(isNew).map(failure => ({
    text: fold(`could not decide ${htmlCode(failure.node, 150)}`, failureText(failure, here)),
    label: 'error',
  }))
  const findings = (list: Verdict['violations'], noun: string) =>
    groupFindings(list.filter(isNew)).map(group => {
      const { rule, object } = group.finding
      const summary = `${noun} ${htmlCode(rule)} ${htmlCode(display(object), 150)}`
      return { text: fold(summary, findingText(group, here)), label: `${noun} of ${code(rule)}` }
    })
  return [...errors, ...findings(verdict.violations, 'violation'), ...findings(verdict.warnings, 'warning')]
}

/** `summary` must be safe as HTML, `body` as Markdown. */
function fold(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`
}

function nextStep(outcome: Verdict, verdict: Verdict, here: string): string {
  if (outcome.result === 'pass') return 'Nothing blocks; look at what is folded below before you merge.'
  const violations = groupFindings(verdict.violations.filter(isNew)).map(group => group.finding)
  const ours = [...verdict.errors.filter(isNew), ...violations]
  if (ours.length === 0) return 'Next: ask a platform admin, what blocks is outside of what this repository is shown.'
  const where = ours.find(item => item.origin.file !== '')?.origin
  const at = where ? `, first ${code(placeOf(where, here))}` : ''
  return `Next: fix what is folded below${at}, and push; this is judged again by itself.`
}
