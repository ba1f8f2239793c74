import type { Changes } from '../diff/changes.ts'
import { BailiwickError } from '../errors.ts'
import { groupFindings } from '../evaluate/verdict/group-findings.ts'
import { NO_DECISIONS } from '../gate/circumstances.ts'
import { code, prose } from '../message/markdown.ts'
import type { Verdict } from '../rules/model/finding.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import { count, isNew } from './text/headline.ts'
import { placeOf } from './text/place.ts'

/** What to do next, as one line of Markdown with the command to type. `verdict`: as its audience sees it. */
export function nextStep(outcome: Outcome, verdict: Verdict | undefined, context: ReportContext): string {
  const { hold, override, demands } = context.decisions ?? NO_DECISIONS
  if (hold) return 'Next: someone with write access runs `/bailiwick unhold`.'
  const passes = outcome === undefined || override !== undefined || isPass(outcome)
  const [approval] = demands
  if (approval && override === undefined && passes) return `Next: ${prose(approval.fix, 500)}`
  if (outcome === undefined) return ''
  if (passes) return `${lookAt(context.changes)} before you merge.`
  if (outcome instanceof BailiwickError) {
    return 'Next: fix the error below and push. `/bailiwick check` evaluates again without a push.'
  }
  return fixNext(verdict ?? outcome, context.repository)
}

const isPass = (outcome: Outcome): boolean => !(outcome instanceof BailiwickError) && outcome?.result === 'pass'

function lookAt(changes: Changes | undefined): string {
  const deleted = changes?.totals.deleted ?? 0
  if (deleted > 0) return `Nothing blocks. Next: review the **${count(deleted, 'object')}** that will be **DELETED**`
  if (changes?.rights.some(({ gains, unknown }) => gains.length + unknown.length > 0)) {
    return 'Nothing blocks. Next: review who gains permissions'
  }
  return 'Nothing blocks. Next: review the changes below'
}

function fixNext(verdict: Verdict, here: string): string {
  const violations = groupFindings(verdict.violations.filter(isNew)).map(group => group.finding)
  const ours = [...verdict.errors.filter(isNew), ...violations]
  if (ours.length === 0)
    return 'Next: ask a fleet admin. The cause is in a part of the fleet that is not visible to this repository.'
  const where = ours.find(item => item.origin.file !== '')?.origin
  const what = where ? code(placeOf(where, here)) : 'the finding below'
  const [first] = violations
  const ask = first
    ? ` ${code(`/bailiwick explain ${first.rule}`, 80)} explains the rule; ${code(`/bailiwick waive ${first.rule} REASON`, 80)} requests a waiver.`
    : ''
  return `Next: fix ${what} and push. Bailiwick re-evaluates automatically on push.${ask}`
}
