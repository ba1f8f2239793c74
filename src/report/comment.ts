import { BailiwickError } from '../base/errors.ts'
import { code, htmlCode, markdownOf, prose } from '../base/markup.ts'
import { fixOf, typedMessage } from '../base/message.ts'
import { andMore } from '../base/name-list.ts'
import { display } from '../kube/object.ts'
import type { Verdict } from '../rules/model/finding.ts'
import { NO_DECISIONS } from '../verdict/decide.ts'
import { type Changes, isUnchanged } from '../verdict/diff/changes.ts'
import { type FailureGroup, groupFailures, groupFindings } from '../verdict/summary.ts'
import { countsText } from './changes.ts'
import { changeLists, changeSections, fitLevels } from './changes-text.ts'
import { checkRunOf, isShownError } from './check-run.ts'
import { matrixLine } from './matrix.ts'
import { assumedClusters, type Outcome, type ReportContext } from './outcome.ts'
import { impactSection } from './policy-impact.ts'
import { type View, viewFor } from './text/audience.ts'
import { count, EditBlocks, isNew, limitsText } from './text/findings.ts'
import { fold, type Section, sectionOf } from './text/fit-budget.ts'
import { placeOf } from './text/place.ts'
import { changedFilesSections, failureText, findingText, pruneSection, wouldBreak } from './verdict-sections.ts'

/** Marks our one comment on a pull request. Anyone can write it: match the author too, and keep no state in it. */
export const COMMENT_MARKER = '<!-- bailiwick:verdict -->'

/**
 * The sticky comment on a pull request: verdict, matrix, next step; folded each finding, and what the clusters get. Undefined
 * when there is nothing to report (no new finding, no rendered change): a comment that exists should go then.
 * At most 60,000 characters: what is too long becomes shorter by rule, and says so.
 */
export function commentOf(outcome: Outcome, context: ReportContext): string | undefined {
  const { title, conclusion, summary } = checkRunOf(outcome, context)
  const icon = conclusion === 'failure' ? (isUndecided(outcome) ? '❔' : '❌') : '✅'
  const lead = `${COMMENT_MARKER}\n${icon} **${prose(title)}**`
  if (outcome === undefined || outcome instanceof BailiwickError) {
    if (outcome === undefined && !needsAgreement(context)) return undefined
    return [lead, nextStep(outcome, undefined, context), fold('Details', summary)].join('\n\n')
  }
  const view = viewFor(outcome, context.audience, context.repository, context.nodes)
  if (isSilent(outcome, view, context) && !needsAgreement(context)) return undefined
  const assumed = assumedClusters(view.verdict, context.audience)
  const counts = context.changes ? countsText(context.changes.totals) : ''
  const head = [
    counts === '' ? lead : `${lead} · objects: ${counts}`,
    [matrixLine(view.verdict), ...(assumed === undefined ? [] : [prose(assumed)])].join(' · '),
    outcome.result === 'pass' ? prose(limitsText(view)) : worstText(view.verdict),
    nextStep(outcome, view.verdict, context),
    pruneSection(context.prunes),
  ]
  const { changes } = context
  const [first, last] = sections(view.verdict, context)
  return fitLevels(
    head.filter(line => line !== '').join('\n\n'),
    level => [...first, ...(changes ? changeSections(changes, level) : []), ...last],
    context.page,
  )
}

const isUndecided = (outcome: Outcome): boolean => outcome instanceof BailiwickError || outcome?.result === 'error'

/** A hold is a label and a check: it needs no comment. */
function needsAgreement({ decisions }: ReportContext): boolean {
  return decisions !== undefined && decisions.missing.length > 0 && decisions.override === undefined
}

function isSilent(outcome: Verdict, { verdict }: View, { changes }: ReportContext): boolean {
  if (outcome.result !== 'pass' || (changes && !isUnchanged(changes))) return false
  if (verdict.changedFiles?.some(({ state }) => state === 'unseen')) return false
  return [...verdict.violations, ...verdict.warnings, ...verdict.errors].every(item => !isNew(item))
}

/** What stands before the changes of objects, and behind them. */
function sections(verdict: Verdict, context: ReportContext): readonly [Section[], Section[]] {
  const { repository: here, changes, audience, nodes = [] } = context
  const groups = groupFailures(verdict.errors)
  const errors = groups
    .filter(({ failure }) => isNew(failure))
    .map(group =>
      sectionOf('error', () => fold(`could not be evaluated: ${whoseOf(group)}`, failureText(group, here, false))),
    )
  const existing = groups.filter(({ failure }) => !isNew(failure))
  const firstExisting = existing.slice(0, 20).map(group => failureText(group, here, false))
  const edits = new EditBlocks(context.fixes ?? [])
  const findings = (list: Verdict['violations'], noun: string) =>
    groupFindings(list.filter(isNew)).map(group => {
      const { finding, objects } = group
      const edit = edits.blockOf(group)
      return sectionOf(`${noun} of ${code(finding.rule)}${edit === '' ? '' : ' with its edit'}`, () => {
        const whose = objects.length === 1 ? htmlCode(display(finding.object), 150) : count(objects.length, 'object')
        const text = `${findingText(group, here, false)}${edit === '' ? '' : `\n\n${edit}`}`
        return fold(`${noun} ${htmlCode(finding.rule)}: ${whose}`, text)
      })
    })
  // names of others' repositories are for the fleet's own readers
  const broken = audience === undefined ? wouldBreak(verdict, nodes, here) : ''
  const impact = impactSection(verdict, here)
  const folded = (summary: string, body: string, label: string) =>
    body === '' ? [] : [{ text: fold(summary, body), label }]
  const before = [
    ...folded(impact?.heading ?? '', impact?.list ?? '', 'list of objects that policies affect'),
    ...(broken === '' ? [] : [{ text: broken, label: 'list of repositories' }]),
    ...errors,
    ...findings(verdict.violations, 'violation'),
    ...(changes ? changeLists(changes) : []),
    ...findings(verdict.warnings, 'warning'),
  ]
  const behind = [
    // what is rendered shows as what changes
    ...(verdict.changedFiles?.every(({ state }) => state === 'rendered') ? [] : changedFilesSections(verdict)),
    ...folded(`Existing evaluation errors (${existing.length})`, firstExisting.join('\n\n'), 'list of existing errors'),
  ]
  return [before, behind]
}

function whoseOf({ nodes }: FailureGroup): string {
  const [first] = nodes
  if (first === undefined) return 'the fleet'
  return `${htmlCode(first, 150)}${andMore(nodes.length - 1)}`
}

/** What to do next, as one line of Markdown with the command to type. `verdict`: as its audience sees it. */
function nextStep(outcome: Outcome, verdict: Verdict | undefined, context: ReportContext): string {
  const { hold, override, missing } = context.decisions ?? NO_DECISIONS
  if (hold) return 'Next: someone with write access runs `/bailiwick unhold`.'
  const passes = outcome === undefined || override !== undefined || isPass(outcome)
  const [approval] = missing
  if (approval && override === undefined && passes) return `Next: ${prose(approval.fix, 500)}`
  if (outcome === undefined) return ''
  const reported = verdict?.warnings.find(one => one.reported && isNew(one))
  if (passes && reported) {
    const place = reported.origin.file === '' ? 'the finding below' : code(placeOf(reported.origin, context.repository))
    return `Nothing blocks, because the fleet only reports violations. Next: fix ${place} before it blocks them.`
  }
  if (passes) return `${lookAt(context.changes)} before you merge.`
  if (outcome instanceof BailiwickError) {
    const isOpen = isShownError(outcome, context)
    const fix = outcome.fix ? markdownOf(fixOf(outcome)) : 'fix the error below and push.'
    return isOpen ? `Next: ${fix} \`/bailiwick check\` evaluates again without a push.` : ASK_ADMIN
  }
  return fixNext(verdict ?? outcome, context.repository)
}

/** What is wrong, of the most severe finding: a reader knows it before anything is opened. */
function worstText({ errors, violations }: Verdict): string {
  const first = errors.find(isNew) ?? groupFindings(violations.filter(isNew))[0]?.finding
  return first === undefined ? '' : markdownOf(typedMessage(first))
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

const ASK_ADMIN = 'Next: ask a fleet admin. The cause is in a part of the fleet that is not visible to this repository.'

function fixNext(verdict: Verdict, here: string): string {
  const violations = groupFindings(verdict.violations.filter(isNew)).map(group => group.finding)
  const errors = groupFailures(verdict.errors.filter(isNew)).map(group => group.failure)
  const ours = [...errors, ...violations]
  if (ours.length === 0) return ASK_ADMIN
  const where = ours.find(item => item.origin.file !== '')?.origin
  const place = where ? code(placeOf(where, here)) : 'the finding below'
  const what = ours.length === 1 ? place : `the ${ours.length} findings below, first ${place},`
  const [first] = violations
  const ask = first
    ? ` ${code(`/bailiwick explain ${first.rule}`, 80)} explains the rule; ${code(`/bailiwick waive ${first.rule} REASON`, 80)} requests a waiver.`
    : ''
  return `Next: fix ${what} and push. Bailiwick re-evaluates automatically on push.${ask}`
}
