import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import { bullets, code, markdownOf, prose } from '../base/markup.ts'
import { ended, fixOf, type Message, type MessagePart, typedMessage } from '../base/message.ts'
import { firstNames } from '../base/name-list.ts'
import { visible } from '../base/visible.ts'
import type { Verdict } from '../rules/model/finding.ts'
import { UNSEEN_CHANGE } from '../verdict/classify-files.ts'
import {
  decide,
  type Outcome as GateOutcome,
  type HumanDecisions,
  type MissingApproval,
  NO_DECISIONS,
} from '../verdict/decide.ts'
import { isUnchanged } from '../verdict/diff/changes.ts'
import { cut, MAX_TITLE } from '../verdict/headline.ts'
import { uncheckedText, unseenFiles } from '../verdict/summary.ts'
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
import { decisionSentences, untilText } from './text/decisions.ts'
import { count, headlineOf, limitsText } from './text/findings.ts'
import { fitBudget, fold, type Section, VISIBLE_LINES } from './text/fit-budget.ts'
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
    limitsText(view),
    assumedClusters(view.verdict, audience) ?? '',
    outcome.result === 'pass' ? renderedLine(context) : '',
    all.length > annotations.length ? `${annotations.length} of ${count(all.length, 'line')} are annotated.` : '',
  ]
  const folded = [
    // names of others' repositories are for the fleet's own readers
    audience === undefined ? wouldBreak(view.verdict, nodes, repository) : '',
    pruneSection(context.prunes),
  ]
  const sections = [...verdictSections(view.verdict, repository), ...tableOf(view.verdict)]
  const lead = [prose(head.filter(text => text !== '').join(' '), 3000), ...folded]
  return {
    title: headlineOf(view),
    summary: `${fitBudget(lead, sections, { lines: VISIBLE_LINES })}\n\n${evaluatedLine(outcome, context, view)}`,
    annotations,
    actions: buttonsOf(context, view),
  }
}

/** What was found, by tenant and cluster. */
function tableOf(verdict: Verdict): Section[] {
  const table = matrixTable(verdict)
  return table === '' ? [] : [{ text: fold('Tenants and clusters', table), label: 'table of tenants and clusters' }]
}

function untouched(context: ReportContext): VerdictText {
  const title = 'No fleet resources affected'
  const summary = `No Kustomization of a cluster reads this repository at ${code(context.headSha.slice(0, 7))}.`
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

const isOurs = ({ origin, code }: BailiwickError, { repository }: ReportContext): boolean =>
  origin === undefined ? ABOUT_THE_PULL_REQUEST.has(code) : origin.repository === repository

/** Whether the readers of a repository may see an error before any verdict. */
export const isShownError = (error: BailiwickError, context: ReportContext): boolean =>
  (context.audience === undefined || isOurs(error, context)) && isOpenError(error, context.repository)

function undecided(error: BailiwickError, context: ReportContext): VerdictText {
  const { origin } = error
  const ours = isOurs(error, context)
  const open = isShownError(error, context)
  const message = open ? error.message : CLOSED_ERROR
  const place = origin && open ? placeOf(origin, context.repository) : ''
  const lines = [
    `Nothing was evaluated at ${code(context.headSha.slice(0, 7))} (${code(error.code)}).`,
    `- What: ${open ? markdownOf(typedMessage(error)) : prose(CLOSED_ERROR)}`,
    ...(place ? [`- Where: ${code(place)}`] : []),
    ...(error.fix && open ? [`- Fix: ${markdownOf(fixOf(error))}`] : []),
  ]
  return {
    title: undecidedTitle(error.code, message, context.base),
    summary: lines.join('\n'),
    annotations:
      origin && ours ? annotationAt(origin, 'failure', `could not be evaluated (${error.code})`, withFix(error)) : [],
    actions: buttonsOf(context),
  }
}

/** As much of the message as a title holds: all of it, or its first clause. The summary has the code. */
function undecidedTitle(code: ErrorCode, message: string, base: string | undefined): string {
  const into = base === undefined || base.length > 15 ? '' : ` with ${visible(base)}`
  if (code === 'merge-conflict') return `Merge conflict${into}: nothing was checked`
  if (message === CLOSED_ERROR) return 'Could not be evaluated: the cause is in another repository'
  const whole = visible(`Could not be evaluated: ${message}`, 180)
  return whole.length <= MAX_TITLE ? whole : cut(whole.split(/(?<=: .*)[.,:;] /)[0]!, MAX_TITLE)
}

const CHECKED: Record<ReportContext['kind'], string> = {
  'pull-request': 'Checked as if merged',
  branch: 'Checked as it is on the branch',
  'merge-group': 'Checked as the merge queue would merge it, with everything before it in the queue',
}

function evaluatedLine(verdict: Verdict, { headSha, fleet, kind, base }: ReportContext, view: View): string {
  const clusters = view.verdict.clusters.map(cluster => code(cluster.name, 80))
  const into = base === undefined ? '' : ` into ${code(base, 80)}`
  const against = fleet ? `, fleet ${code(shortUrl(fleet.repository))} at ${code(fleet.commit.slice(0, 7))}` : ''
  const where = clusters.length > 0 ? `, clusters ${firstNames(clusters, 20)}` : ''
  return `${CHECKED[kind]}${into}: commit ${code(headSha.slice(0, 7))}${against}${where}, revision set ${code(verdict.revisionSet.slice(0, 12))}.`
}

/** A refactoring that renders the same has no comment, so it is reported here. */
function renderedLine({ changes }: ReportContext): string {
  if (changes === undefined || changes.hidden > 0) return ''
  if (isUnchanged(changes)) return 'No rendered changes.'
  const counts = countsText(changes.totals)
  return counts === '' ? '' : `Rendered changes: ${counts}.`
}

/** Adds what people decided, and missing approvals, to the text of a verdict. */
function withDecisions(run: VerdictText, outcome: GateOutcome, decisions: HumanDecisions): VerdictText {
  const { missing, worse } = decisions
  const others = ofOthers(run, worse)
  const text = { ...others, annotations: [...missing.flatMap(approvalAnnotation), ...others.annotations] }
  const sentences = decisionSentences(decisions)
  if (sentences.length === 0) return text
  const title = decidedTitle(outcome, decisions)
  const verdict = title === undefined ? '' : `Verdict: ${prose(ended(text.title))} `
  return {
    ...text,
    title: title === undefined ? text.title : cut(visible(title, 200), MAX_TITLE),
    summary: `${decisionList(sentences)}\n\n${verdict}${text.summary}`,
  }
}

/** The title where something else than the verdict decides. */
function decidedTitle(outcome: GateOutcome, decisions: HumanDecisions): string | undefined {
  const { hold, override, missing } = decisions
  const { by } = decide(outcome, decisions)
  if (by === 'hold') return `On hold by ${hold?.by}`
  if (by === 'override') {
    const { until } = override ?? {}
    const what = until === undefined ? 'Overridden' : `Paused until ${untilText(until)}`
    return `${what} by ${override?.by}: ${override?.reason}`
  }
  if (by !== 'required-approval') return undefined
  const isFork = missing.every(({ rule }) => rule === 'gate-fork-untrusted')
  if (outcome && !(outcome instanceof BailiwickError) && missing.every(({ rule }) => rule === UNSEEN_CHANGE)) {
    return `Approval required: ${uncheckedText(unseenFiles(outcome).length)}`
  }
  return `Approval required: a ${isFork ? 'maintainer' : 'fleet admin'} must approve this commit`
}

/** So many are read before the rest is opened. */
const FEW_DECISIONS = 2
const MAX_DECISIONS = 20

function decisionList(sentences: readonly Message[]): string {
  const line = (one: Message) => markdownOf(one)
  const first = bullets(sentences.slice(0, FEW_DECISIONS), FEW_DECISIONS, line)
  const rest = sentences.slice(FEW_DECISIONS)
  if (rest.length === 0) return first
  return `${first}\n\n${fold(`${rest.length} more`, bullets(rest, MAX_DECISIONS, line))}`
}

function ofOthers(run: VerdictText, worse: readonly number[]): VerdictText {
  if (worse.length === 0) return run
  const numbers = worse.slice(0, 10).map(number => `#${number}`)
  const which = `${worse.length === 1 ? 'pull request' : 'pull requests'} ${numbers.join(', ')}${worse.length > numbers.length ? ', …' : ''}`
  const note = `Several open pull requests have this commit as their head, and GitHub keeps one check per commit. Showing the most severe verdict: that of ${which}.`
  // not in parentheses: in the comment a number there is taken for text from outside
  const title = [`${run.title}, of ${which.replaceAll('#', '')}`].find(one => one.length <= MAX_TITLE)
  return { ...run, title: title ?? run.title, summary: `${note} ${run.summary}` }
}

function approvalAnnotation({ rule, message, fix, path }: MissingApproval): Annotation[] {
  if (path === undefined) return []
  const text = `${visible(message, 1000)}\n${visible(fix, 500)}`
  return annotationAt({ file: path, line: 1 }, 'failure', `${rule}: required approval`, text)
}

/** Replaces an error that is about another repository. */
export const CLOSED_ERROR =
  'the cause is in another repository, which cannot be shown here. Ask a fleet admin to correct it'

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
