import { isUnchanged } from '../diff/changes.ts'
import { BailiwickError, type ErrorCode } from '../errors.ts'
import { NO_DECISIONS } from '../gate/circumstances.ts'
import { decide } from '../gate/decide.ts'
import { code, prose } from '../message/markdown.ts'
import { markdownOf } from '../message/markdown-of.ts'
import { fixOf, typedMessage } from '../message/said.ts'
import { visible } from '../message/visible.ts'
import type { Verdict } from '../rules/model/finding.ts'
import { annotationsOf, MAX_ANNOTATIONS } from './annotations.ts'
import { assumedClusters } from './assumed-clusters.ts'
import { buttonsOf } from './buttons.ts'
import { countsText } from './changes/counts-text.ts'
import { withDecisions } from './in-circumstances.ts'
import { matrixTable } from './matrix.ts'
import { CLOSED_ERROR, isOpenError } from './open-error.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import { pruneSection } from './prune-section.ts'
import { type View, viewFor } from './text/audience.ts'
import { fitBudget } from './text/fit-budget.ts'
import { fold } from './text/fold.ts'
import { VISIBLE_LINES } from './text/fold-rest.ts'
import { count, headlineOf } from './text/headline.ts'
import { placeOf, shortUrl } from './text/place.ts'
import { verdictSections } from './verdict-sections.ts'
import type { CheckRunText, VerdictText } from './verdict-text.ts'
import { wouldBreak } from './would-break.ts'

/**
 * The check run that carries a verdict, and what people decided about it. What could not be evaluated is a failure, never
 * neutral or skipped: GitHub lets those pass a required check. The summary stays under GitHub's 65,535 characters.
 */
export function checkRunOf(outcome: Outcome, context: ReportContext): CheckRunText {
  const decisions = context.decisions ?? NO_DECISIONS
  const { conclusion } = decide(outcome, decisions)
  return { conclusion, ...withDecisions(verdictText(outcome, context), outcome, decisions) }
}

function verdictText(outcome: Outcome, context: ReportContext): VerdictText {
  if (outcome === undefined) return untouched(context)
  if (outcome instanceof BailiwickError) return undecided(outcome, context)
  const { repository, audience, nodes = [] } = context
  const whole = viewFor(outcome, audience, repository, nodes)
  // what is approved, and what is not, is said by the required approvals themselves
  const view = {
    ...whole,
    verdict: context.decisions ? { ...whole.verdict, requiredApprovals: [] } : whole.verdict,
  }
  const all = annotationsOf(view.verdict, context)
  const annotations = all.slice(0, MAX_ANNOTATIONS)
  const head = [
    evaluatedLine(outcome, context, view),
    prose(assumedClusters(view.verdict, audience) ?? ''),
    outcome.result === 'pass' ? renderedLine(context) : '',
    tableOf(view.verdict),
    // names of others' repositories are for the fleet's own readers
    audience === undefined ? wouldBreak(view.verdict, nodes, repository) : '',
    hiddenLine(view),
    pruneSection(context.prunes),
    all.length > annotations.length ? `${annotations.length} of ${count(all.length, 'line')} are annotated.` : '',
  ]
  return {
    title: headlineOf(view),
    summary: fitBudget(
      head.filter(part => part !== '').join('\n\n'),
      verdictSections(view.verdict, repository),
      undefined,
      undefined,
      VISIBLE_LINES,
    ),
    annotations,
    actions: buttonsOf(context, view),
  }
}

/** A long table is folded: what blocks stands below it. */
function tableOf(verdict: Verdict): string {
  const table = matrixTable(verdict)
  const rows = table.split('\n').length
  return rows > MAX_TABLE_LINES ? fold(`Tenants and clusters (${rows - 2})`, table) : table
}

const MAX_TABLE_LINES = 14

function untouched(context: ReportContext): VerdictText {
  const title = 'No fleet resources affected'
  const summary = `${title}: no Kustomization of a cluster reads this repository at ${code(context.headSha.slice(0, 7))}.`
  return { title, summary, annotations: [], actions: buttonsOf(context) }
}

/** Errors without a place whose message speaks of the pull request and of nobody else. */
const ABOUT_THE_PULL_REQUEST: ReadonlySet<ErrorCode> = new Set([
  'merge-conflict',
  'check-shared',
  'github-unavailable',
  'git-truncated',
  'evaluation-limits',
])

function undecided(error: BailiwickError, context: ReportContext): VerdictText {
  const { origin } = error
  const ours = origin === undefined ? ABOUT_THE_PULL_REQUEST.has(error.code) : origin.repository === context.repository
  const open = (context.audience === undefined || ours) && isOpenError(error, context.repository)
  const message = open ? error.message : CLOSED_ERROR
  const place = origin && open ? placeOf(origin, context.repository) : ''
  const lines = [
    `Nothing was evaluated at ${code(context.headSha.slice(0, 7))} (${code(error.code)}).`,
    `- What: ${open ? markdownOf(typedMessage(error)) : prose(CLOSED_ERROR)}`,
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(error.fix && open ? [`- Fix: ${markdownOf(fixOf(error))}`] : []),
  ]
  return {
    title: visible(`Could not be evaluated: ${message}`, 180),
    summary: lines.join('\n'),
    annotations:
      origin && ours && origin.file !== ''
        ? [
            {
              path: origin.file,
              line: Math.max(1, origin.line),
              level: 'failure',
              title: `could not be evaluated (${error.code})`,
              message: visible(error.message, 2000) + (error.fix ? `\nFix: ${visible(error.fix, 1000)}` : ''),
            },
          ]
        : [],
    actions: buttonsOf(context),
  }
}

const JUDGED: Record<ReportContext['kind'], string> = {
  'pull-request': 'Evaluated as it would be merged',
  branch: 'Evaluated as it is on the branch',
  'merge-group': 'Evaluated as the merge queue would merge it, with everything before it in the queue',
}

function evaluatedLine(verdict: Verdict, { headSha, fleet, kind }: ReportContext, view: View): string {
  const clusters = view.verdict.clusters.map(cluster => code(cluster.name, 80)).slice(0, 20)
  const against = fleet ? `, fleet ${code(shortUrl(fleet.repository))} at ${code(fleet.commit.slice(0, 7))}` : ''
  const where = clusters.length > 0 ? `, clusters ${clusters.join(', ')}` : ''
  return `${JUDGED[kind]}: ${code(headSha.slice(0, 7))}${against}${where}, revision set ${code(verdict.combination.slice(0, 12))}.`
}

/** A refactoring that renders the same has no comment: here it is said. */
function renderedLine({ changes }: ReportContext): string {
  if (changes === undefined || changes.hidden > 0) return ''
  if (isUnchanged(changes)) return 'No rendered changes.'
  const counts = countsText(changes.totals)
  return counts === '' ? '' : `Rendered changes: ${counts}.`
}

function hiddenLine({ hidden }: View): string {
  const parts = [
    ...(hidden.violations > 0 ? [count(hidden.violations, 'violation')] : []),
    ...(hidden.errors > 0 ? [count(hidden.errors, 'error')] : []),
  ]
  if (parts.length === 0) return ''
  return `${parts.join(' and ')} elsewhere in the fleet also block. A fleet admin can see which.`
}
