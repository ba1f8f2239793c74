import type { HumanDecisions, MissingApproval } from '../gate/circumstances.ts'
import { decide } from '../gate/decide.ts'
import type { Outcome } from '../gate/outcome.ts'
import { andMore } from '../message/and-more.ts'
import { code, prose } from '../message/markdown.ts'
import { visible } from '../message/visible.ts'
import { type Annotation, isAnnotatable } from './annotations.ts'
import type { VerdictText } from './verdict-text.ts'

/** Approvals that a summary lists. */
const MAX_APPROVALS = 20

/** Adds a hold, an override and missing approvals to the text of a verdict. */
export function withDecisions(run: VerdictText, outcome: Outcome, decisions: HumanDecisions): VerdictText {
  const { hold, override, demands, worse } = decisions
  const blocksAlone = decide(outcome, { demands }).by === 'required-approval'
  const text = withMissingApprovals(ofOthers(run, worse), demands, blocksAlone)
  const { by } = decide(outcome, decisions)
  if (by === 'hold' && hold) {
    const note = `**On hold by ${code(hold.by, 80)}**. Blocked until someone with write access runs ${code('/bailiwick unhold')}.${keptText(hold)}`
    return beneath(text, `On hold by ${visible(hold.by, 80)}`, note)
  }
  if (by === 'override' && override) {
    const title = visible(`Overridden by ${override.by}: ${override.reason}`, 200)
    const note = `**Overridden by ${code(override.by, 80)}**, for this commit only: ${prose(override.reason, 500)}`
    return beneath(text, title, note)
  }
  return text
}

function keptText({ takenOffBy }: NonNullable<HumanDecisions['hold']>): string {
  if (takenOffBy === undefined) return ''
  return ` ${code(takenOffBy, 80)} removed the label without write access to this repository, which does not lift the hold.`
}

function beneath(text: VerdictText, title: string, note: string): VerdictText {
  return { ...text, title, summary: `${note}\n\nVerdict: ${prose(text.title)}\n\n${text.summary}` }
}

function ofOthers(run: VerdictText, worse: readonly number[]): VerdictText {
  if (worse.length === 0) return run
  const numbers = worse.slice(0, 10).map(number => `#${number}`)
  const which = `${worse.length === 1 ? 'pull request' : 'pull requests'} ${numbers.join(', ')}${worse.length > numbers.length ? ', …' : ''}`
  const note = `Several open pull requests have this commit as their head, and GitHub keeps one check per commit. Showing the most severe verdict: that of ${which}.`
  return { ...run, title: `${visible(run.title, 200)} (${which})`, summary: `${note}\n\n${run.summary}` }
}

function withMissingApprovals(
  run: VerdictText,
  missing: readonly MissingApproval[],
  blocksAlone: boolean,
): VerdictText {
  const [first] = missing
  if (!first) return run
  const shown = missing.slice(0, MAX_APPROVALS).map(approvalText)
  const left = missing.length - shown.length
  if (left > 0) shown.push(`…${andMore(left)}`)
  const section = `### Required approvals (${missing.length})\n\n${shown.join('\n')}`
  const annotations = [...missing.flatMap(approvalAnnotation), ...run.annotations]
  if (!blocksAlone) return { ...run, annotations, summary: `${section}\n\n${run.summary}` }
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more)` : ''
  const title = `${visible(`Required approval: ${first.message}`, 180)}${more}`
  return beneath({ ...run, annotations }, title, section)
}

function approvalText({ rule, message, fix, path }: MissingApproval): string {
  const where = path === undefined ? '' : `, ${code(path)}`
  return `- ${code(rule)}${where}: ${prose(message, 500)} ${prose(fix, 300)}`
}

function approvalAnnotation({ rule, message, fix, path }: MissingApproval): Annotation[] {
  if (path === undefined || !isAnnotatable(path)) return []
  const text = `${visible(message, 1000)}\n${visible(fix, 500)}`
  return [{ path, line: 1, level: 'failure', title: visible(`${rule}: required approval`, 200), message: text }]
}
