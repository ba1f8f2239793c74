import { isUnchanged } from '../diff/changes.ts'
import { BailiwickError } from '../errors.ts'
import { groupFindings } from '../evaluate/verdict/group-findings.ts'
import { display } from '../kube/object.ts'
import { andMore } from '../message/and-more.ts'
import { code, htmlCode, prose } from '../message/markdown.ts'
import type { Verdict } from '../rules/model/finding.ts'
import { assumedClusters } from './assumed-clusters.ts'
import { changeLists } from './changes/change-lists.ts'
import { changeSections, type DetailLevel } from './changes/change-sections.ts'
import { countsText } from './changes/counts-text.ts'
import { fitLevels } from './changes/fit-levels.ts'
import { checkRunOf } from './check-run.ts'
import { matrixLine } from './matrix.ts'
import { nextStep } from './next-step.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import { impactSection } from './policies/impact-section.ts'
import { pruneSection } from './prune-section.ts'
import { type View, viewFor } from './text/audience.ts'
import { EditBlocks } from './text/edit-blocks.ts'
import { failureText, findingText } from './text/finding-text.ts'
import type { Section } from './text/fold.ts'
import { fold } from './text/fold.ts'
import { type FailureGroup, groupFailures } from './text/group-failures.ts'
import { count, isNew } from './text/headline.ts'
import { changedFilesSections } from './verdict-sections.ts'
import { wouldBreak } from './would-break.ts'

/** Marks the one comment of ours on a pull request. Anybody can write it: match the author too, and keep no state in it. */
export const COMMENT_MARKER = '<!-- bailiwick:verdict -->'

/**
 * The sticky comment on a pull request: verdict, matrix, next step; folded each finding, and what the clusters get. Undefined
 * when there is nothing to say (no finding is new, and every cluster gets what it had): a comment that exists should go then.
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
    nextStep(outcome, view.verdict, context),
    pruneSection(context.prunes),
  ]
  return fitLevels(
    head.filter(line => line !== '').join('\n\n'),
    level => sections(view.verdict, context, level),
    context.page,
  )
}

const isUndecided = (outcome: Outcome): boolean => outcome instanceof BailiwickError || outcome?.result === 'error'

/** A hold is a label and a check: it needs no comment. */
function needsAgreement({ decisions }: ReportContext): boolean {
  return decisions !== undefined && decisions.demands.length > 0 && decisions.override === undefined
}

function isSilent(outcome: Verdict, { verdict }: View, { changes }: ReportContext): boolean {
  if (outcome.result !== 'pass' || (changes && !isUnchanged(changes))) return false
  if (verdict.changedFiles?.some(({ state }) => state === 'unseen')) return false
  return [...verdict.violations, ...verdict.warnings, ...verdict.errors].every(item => !isNew(item))
}

function sections(verdict: Verdict, context: ReportContext, level: DetailLevel): Section[] {
  const { repository: here, changes, audience, nodes = [] } = context
  const groups = groupFailures(verdict.errors)
  const errors = groups
    .filter(({ failure }) => isNew(failure))
    .map(group => ({
      text: fold(`could not be evaluated: ${whoseOf(group)}`, failureText(group, here)),
      label: 'error',
    }))
  const existing = groups.filter(({ failure }) => !isNew(failure)).map(group => failureText(group, here))
  const edits = new EditBlocks(context.fixes ?? [])
  const findings = (list: Verdict['violations'], noun: string) =>
    groupFindings(list.filter(isNew)).map(group => {
      const { finding, objects } = group
      const whose = objects.length === 1 ? htmlCode(display(finding.object), 150) : count(objects.length, 'object')
      const summary = `${noun} ${htmlCode(finding.rule)}: ${whose}`
      const edit = edits.blockOf(group)
      const text = `${findingText(group, here, false)}${edit === '' ? '' : `\n\n${edit}`}`
      const label = `${noun} of ${code(finding.rule)}${edit === '' ? '' : ' with its edit'}`
      return { text: fold(summary, text), label }
    })
  // names of others' repositories are for the fleet's own readers
  const broken = audience === undefined ? wouldBreak(verdict, nodes, here) : ''
  const impact = impactSection(verdict, here)
  return [
    ...(impact ? [{ text: fold(impact.heading, impact.list), label: 'list of objects that policies affect' }] : []),
    ...(broken === ''
      ? []
      : [{ text: fold('Repositories that this would break', broken), label: 'list of repositories' }]),
    ...errors,
    ...findings(verdict.violations, 'violation'),
    ...(changes ? changeLists(changes) : []),
    ...findings(verdict.warnings, 'warning'),
    ...(changes ? changeSections(changes, level) : []),
    // what is rendered shows as what changes
    ...(verdict.changedFiles?.every(({ state }) => state === 'rendered') ? [] : changedFilesSections(verdict)),
    ...(existing.length === 0
      ? []
      : [
          {
            text: fold(`Existing evaluation errors (${existing.length})`, existing.slice(0, 20).join('\n\n')),
            label: 'list of existing errors',
          },
        ]),
  ]
}

function whoseOf({ nodes }: FailureGroup): string {
  const [first] = nodes
  if (first === undefined) return 'the fleet'
  return `${htmlCode(first, 150)}${andMore(nodes.length - 1)}`
}
