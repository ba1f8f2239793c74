import { groupFindings } from '../evaluate/verdict/group-findings.ts'
import { code, prose } from '../message/markdown.ts'
import { failureText, findingText } from '../report/text/finding-text.ts'
import { fitBudget } from '../report/text/fit-budget.ts'
import type { Section } from '../report/text/fold.ts'
import { groupFailures } from '../report/text/group-failures.ts'
import { count, stateText } from '../report/text/headline.ts'
import type { Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import type { RuleText } from '../rules/model/rule.ts'
import { commandError, quoted } from './command-error.ts'
import { findFindings, shortFingerprint } from './find-findings.ts'

/** How to write it. */
export const EXPLAIN_USAGE = 'explain RULE|FINDING'

/**
 * Explains a rule and lists its findings on a pull request. `verdict`: as its readers may see it; absent if there is
 * none. Throws `command-input` for an unknown rule or finding.
 */
export function explainText(
  target: string | undefined,
  rules: readonly RuleText[],
  here: string,
  verdict: Verdict | undefined,
): string {
  if (target === undefined)
    throw commandError('the rule or finding is missing', `Write \`/bailiwick ${EXPLAIN_USAGE}\``)
  const failures = (verdict?.errors ?? []).map(failure => ({ ...failure, rule: failure.code }))
  const findings = [...(verdict?.violations ?? []), ...(verdict?.warnings ?? [])].filter(one => one.state !== 'fixed')
  const isRule = (id: string) => rules.some(rule => rule.id === id) || failures.some(({ rule }) => rule === id)
  if (verdict === undefined && !isRule(target)) {
    throw commandError(`unknown rule ${quoted(target)}`, '`docs/rules.md` lists the rules.')
  }
  const found = findFindings<Finding | (typeof failures)[number]>(target, [...findings, ...failures], isRule)
  const rule = rules.find(({ id }) => id === (found[0]?.rule ?? target))
  const head = rule ? ruleText(rule) : `${code(found[0]?.rule ?? target)} is an evaluation error; it cannot be waived.`
  return fitBudget(head, found.length === 0 ? none(verdict) : sections(found, here))
}

function ruleText({ id, title, why, source, docs, severity, level = 'violation' }: RuleText): string {
  const weight = level === 'violation' ? severity : `${level}, ${severity}`
  return [
    `### ${code(id)}: ${prose(title)} (${weight})`,
    prose(why),
    `**What to do:** ${prose(docs)}`,
    ...(source ? [`Source: ${prose(source)}`] : []),
  ].join('\n\n')
}

function none(verdict: Verdict | undefined): Section[] {
  return verdict === undefined ? [] : [{ text: 'This pull request has no finding of this rule.', label: '' }]
}

function sections(found: readonly (Finding | NodeFailure)[], here: string): Section[] {
  const causes = groupFailures(found.filter((one): one is NodeFailure => 'code' in one))
  const groups = groupFindings(found.filter((one): one is Finding => !('code' in one)))
  return [
    { text: `**Here** (${count(groups.length + causes.length, 'finding')}):`, label: '' },
    ...groups.map(group => ({
      text: `${findingText(group, here)}\n- Finding: ${code(shortFingerprint(group.finding.fingerprint))} (${stateText(group.finding.state)})`,
      label: 'finding',
    })),
    ...causes.map(group => ({ text: failureText(group, here), label: 'error' })),
  ]
}
