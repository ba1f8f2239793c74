import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import { bullets, code, markdownOf, prose } from '../base/markup.ts'
import { fixOf, type MessagePart, typedMessage } from '../base/message.ts'
import { visible } from '../base/visible.ts'
import type { Verdict } from '../rules/model/finding.ts'
import {
  decide,
  type Outcome as GateOutcome,
  type HumanDecisions,
  type MissingApproval,
  NO_DECISIONS,
} from '../verdict/decide.ts'
import { isUnchanged } from '../verdict/diff/changes.ts'
import { countsText } from './changes.ts'
import {
  type Annotation,
  annotationAt,
  annotationsOf,
  buttonsOf,
  type CheckRunText,
  MAX_ANNOTATIONS,
  type VerdictText,
  withFix,
} from './check-run-text.ts'
import { matrixTable } from './matrix.ts'
import { assumedClusters, type Outcome, type ReportContext } from './outcome.ts'
import { type View, viewFor } from './text/audience.ts'
import { count, headlineOf } from './text/findings.ts'
import { fitBudget, fold, VISIBLE_LINES } from './text/fit-budget.ts'
import { placeOf, shortUrl } from './text/place.ts'
import { pruneSection, verdictSections, wouldBreak } from './verdict-sections.ts'

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
  // the required approvals list what is approved and what is not
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
    summary: fitBudget(head, verdictSections(view.verdict, repository), { lines: VISIBLE_LINES }),
    annotations,
    actions: buttonsOf(context, view),
  }
}

/** A long table is folded: what blocks comes below it. */
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

/** Errors without a place whose message is only about the pull request. */
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
      origin && ours ? annotationAt(origin, 'failure', `could not be evaluated (${error.code})`, withFix(error)) : [],
    actions: buttonsOf(context),
  }
}

const EVALUATED: Record<ReportContext['kind'], string> = {
  'pull-request': 'Evaluated as it would be merged',
  branch: 'Evaluated as it is on the branch',
  'merge-group': 'Evaluated as the merge queue would merge it, with everything before it in the queue',
}

function evaluatedLine(verdict: Verdict, { headSha, fleet, kind }: ReportContext, view: View): string {
  const clusters = view.verdict.clusters.map(cluster => code(cluster.name, 80)).slice(0, 20)
  const against = fleet ? `, fleet ${code(shortUrl(fleet.repository))} at ${code(fleet.commit.slice(0, 7))}` : ''
  const where = clusters.length > 0 ? `, clusters ${clusters.join(', ')}` : ''
  return `${EVALUATED[kind]}: ${code(headSha.slice(0, 7))}${against}${where}, revision set ${code(verdict.revisionSet.slice(0, 12))}.`
}

/** A refactoring that renders the same has no comment, so it is reported here. */
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

/** Approvals that a summary lists. */
const MAX_APPROVALS = 20

/** Adds a hold, an override and missing approvals to the text of a verdict. */
function withDecisions(run: VerdictText, outcome: GateOutcome, decisions: HumanDecisions): VerdictText {
  const { hold, override, missing, worse } = decisions
  const blocksAlone = decide(outcome, { missing }).by === 'required-approval'
  const text = withMissingApprovals(ofOthers(run, worse), missing, blocksAlone)
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
  const section = `### Required approvals (${missing.length})\n\n${bullets(missing, MAX_APPROVALS, approvalText)}`
  const annotations = [...missing.flatMap(approvalAnnotation), ...run.annotations]
  if (!blocksAlone) return { ...run, annotations, summary: `${section}\n\n${run.summary}` }
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more)` : ''
  const title = `${visible(`Required approval: ${first.message}`, 180)}${more}`
  return beneath({ ...run, annotations }, title, section)
}

function approvalText({ rule, message, fix, path }: MissingApproval): string {
  const where = path === undefined ? '' : `, ${code(path)}`
  return `${code(rule)}${where}: ${prose(message, 500)} ${prose(fix, 300)}`
}

function approvalAnnotation({ rule, message, fix, path }: MissingApproval): Annotation[] {
  if (path === undefined) return []
  const text = `${visible(message, 1000)}\n${visible(fix, 500)}`
  return annotationAt({ file: path, line: 1 }, 'failure', `${rule}: required approval`, text)
}

/** Replaces an error that is about another repository. */
export const CLOSED_ERROR =
  "the cause is in another repository, which cannot be named here. The operator's log names it"

/** Errors that quote only the person who asked. */
const ABOUT_WHAT_WAS_ASKED: ReadonlySet<ErrorCode> = new Set([
  'command-input',
  'onboard-input',
  'onboard-layout',
  'offboard-input',
  'offboard-layout',
  'sops-config',
  // they read the repository in which they are asked for, and nothing else
  'adopt-input',
  'adopt-layout',
  'adopt-not-proven',
])
/** In messages without types. */
const REPOSITORY = /[\w.-]+\/[\w.-]+/
/** Where a branch is quoted it is the pull request's own. */
const BRANCH = /\b(?:branch|with) "[^"]*"/g

/** A git id names no person. */
const COMMIT = /^[0-9a-f]{7,64}$/

/**
 * Whether an error before any verdict may be published on the repository at `here`. It is unknown then which names belong
 * to other tenants, so one that is located in another repository, or names one, may not.
 */
export function isOpenError({ code, origin, message, typed }: BailiwickError, here: string): boolean {
  if (ABOUT_WHAT_WAS_ASKED.has(code)) return true
  if (origin !== undefined) return origin.repository === here
  if (typed !== undefined) return typed.parts.every(one => typeof one === 'string' || isOpenPart(one, here))
  return !namesOthers(message, here)
}

/** Found from the words. */
function namesOthers(message: string, here: string): boolean {
  const own = here.split('/').slice(-2).join('/').replace(/[.]/g, '\\.')
  const rest = message.replace(BRANCH, '').replace(new RegExp(`(?:https://[\\w.-]+/)?${own}(?![\\w.-])`, 'gi'), '')
  return REPOSITORY.test(rest)
}

/** Of values only these are the reader's own: a branch is that of the pull request. */
function isOpenPart({ type, value }: MessagePart, here: string): boolean {
  if (type === 'text') return !namesOthers(value, here)
  if (type === 'value') return COMMIT.test(value)
  if (type !== 'repository') return type === 'branch' || type === 'code'
  const [own, name] = [here, value].map(text => text.toLowerCase())
  return name === own || name === own!.split('/').slice(-2).join('/')
}

/** Returns the error as the repository at `here` may see it. */
export function openError(error: BailiwickError, here: string): BailiwickError {
  return isOpenError(error, here) ? error : new BailiwickError(error.code, CLOSED_ERROR)
}
