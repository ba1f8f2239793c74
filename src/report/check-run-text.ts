import { hash } from 'node:crypto'
import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import type { Worded } from '../base/message.ts'
import { firstNames } from '../base/name-list.ts'
import type { SourceLine } from '../base/origin.ts'
import { visible } from '../base/visible.ts'
import { ENGINE_VERSION } from '../fleet/model/input.ts'
import { display } from '../kube/object.ts'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import { isShared, type NamedCheck } from '../verdict/check-names.ts'
import { type FailureGroup, type FindingGroup, groupFailures, groupFindings } from '../verdict/summary.ts'
import type { Outcome, ReportContext } from './outcome.ts'
import type { View } from './text/audience.ts'
import { count, fixText, isNew } from './text/findings.ts'
import { placeOf } from './text/place.ts'
import { isOfFlux } from './text/private-words.ts'

/** A finished check run. GitHub takes 50 annotations per request: the caller sends them in portions. */
export interface CheckRunText {
  readonly conclusion: 'success' | 'failure'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly Annotation[]
  readonly actions: readonly Button[]
}

/** The text of a check run about a verdict; the decision sets its conclusion. */
export type VerdictText = Omit<CheckRunText, 'conclusion'>

/** One annotation of a check run, in GitHub's words; plain text, GitHub reads no Markdown in it. */
export interface Annotation {
  readonly path: string
  readonly line: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

/** GitHub takes 50 per request; more than this costs needless requests, and the text counts the rest. */
export const MAX_ANNOTATIONS = 100

/** Findings at lines of this repository: new errors, then new violations by severity, then new warnings. */
export function annotationsOf(verdict: Verdict, context: ReportContext): Annotation[] {
  const errors = groupFailures(verdict.errors.filter(isNew)).flatMap(group => failureAnnotation(group, context))
  const violations = groupFindings(verdict.violations.filter(isNew))
  const warnings = groupFindings(verdict.warnings.filter(isNew))
  return [
    ...errors,
    ...violations.flatMap(group => annotation(group, 'failure', context)),
    ...warnings.flatMap(group => annotation(group, 'warning', context)),
  ]
}

/** How many objects, and Kustomizations, of one cause are named. */
const MAX_OBJECTS = 20
const MAX_NODES = 5

/** One annotation for each cause. */
function annotation(group: FindingGroup, level: Annotation['level'], context: ReportContext): Annotation[] {
  const { finding, objects, clusters, identities, followers } = group
  const { origin } = finding
  if (origin.repository !== context.repository) return []
  const place = changedPlace(finding, context)
  if (!isShown(place.file, context)) return []
  const whose = objects.length === 1 ? display(finding.object) : count(objects.length, 'object')
  const lines = [
    visible(finding.message, 2000),
    ...(objects.length > 1 ? [`Objects: ${named(objects.map(({ object }) => display(object)))}`] : []),
    ...followers.map(one => `Follows from this: ${one.finding.rule} for ${count(one.objects.length, 'object')}`),
    `Applied by ${named(identities)}`,
    `Fix: ${visible(fixText(group, context.repository), 1000)}`,
    ...(place.file === origin.file && !finding.isBefore
      ? []
      : [
          `${finding.isBefore ? 'Before this change at' : 'Written at'} ${visible(placeOf(origin, context.repository))}`,
        ]),
  ]
  // a line of the base is another one of the head
  const at = finding.isBefore ? { ...place, line: 1 } : place
  return annotationAt(at, level, `${finding.rule}: ${whose} (${clusters.join(', ')})`, lines.join('\n'))
}

/** The annotation of a line; none where GitHub would not take it. */
export function annotationAt(
  { file, line }: Pick<SourceLine, 'file' | 'line'>,
  level: Annotation['level'],
  title: string,
  message: string,
): Annotation[] {
  if (!isAnnotatable(file)) return []
  return [{ path: file, line: Math.max(1, line), level, title: visible(title, 200), message }]
}

const named = (all: readonly string[]): string => firstNames(all, MAX_OBJECTS, name => visible(name))

/** GitHub shows annotations on changed files only; the others are in the summary. */
function isShown(file: string, { changedPaths }: ReportContext): boolean {
  return changedPaths === undefined || changedPaths.has(file)
}

/** Whether lines of a file can be annotated: git allows names that no API is made for, and one refused line loses all of them. */
export function isAnnotatable(file: string): boolean {
  return file !== '' && file.length <= 1000 && !/[\p{Cc}\p{Cs}]/u.test(file)
}

/** GitHub shows an annotation in the diff only on a changed file: prefer the changed overlay that leads to the origin. */
function changedPlace(finding: Finding, { changedPaths }: ReportContext): Pick<SourceLine, 'file' | 'line'> {
  const { origin } = finding
  if (!changedPaths || changedPaths.has(origin.file)) return origin
  // Flux steps may be in another repository than the origin, kustomize steps never are
  return finding.via.find(step => !isOfFlux(step) && changedPaths.has(step.file)) ?? origin
}

function failureAnnotation({ failure, nodes }: FailureGroup, context: ReportContext): Annotation[] {
  const { origin } = failure
  const whose = firstNames(nodes, MAX_NODES) || 'the fleet'
  if (origin.repository !== context.repository || !isShown(origin.file, context)) return []
  return annotationAt(origin, 'failure', `could not be evaluated (${failure.code}): ${whose}`, withFix(failure))
}

/** What an error says to a reader of plain text, and its remedy. */
export function withFix({ message, fix = '' }: Pick<Worded, 'message' | 'fix'>): string {
  return `${visible(message, 2000)}${fix === '' ? '' : `\nFix: ${visible(fix, 1000)}`}`
}

/** A button of a check run: label at most 20 characters, description at most 40, at most three of them. */
interface Button {
  readonly label: string
  readonly description: string
  readonly identifier: 'evaluate' | 'fix' | 'waive'
}

const EVALUATE: Button = { label: 'Re-evaluate', description: 'Evaluate this commit again', identifier: 'evaluate' }
const FIX: Button = { label: 'Apply fixes', description: 'Commit the automatic fixes to the branch', identifier: 'fix' }
const WAIVE: Button = { label: 'Request waiver', description: 'Ask a fleet admin to accept this', identifier: 'waive' }

/** The buttons that make sense. A merge group's commit is gone soon: it has none. `view`: absent where nothing was evaluated. */
export function buttonsOf({ kind, fixable, decisions }: ReportContext, view?: View): readonly Button[] {
  if (kind === 'merge-group') return []
  const blocks = view?.verdict.violations.some(isNew) === true && decisions?.override === undefined
  const isPull = kind === 'pull-request'
  return [EVALUATE, ...(isPull && fixable ? [FIX] : []), ...(isPull && blocks ? [WAIVE] : [])]
}

/** How far an evaluation is. `known`: Kustomizations that need not be rendered again; `total`: as many as there were last time. */
export type Progress =
  | { readonly state: 'queued' }
  | { readonly state: 'rendering'; readonly rendered: number; readonly known: number; readonly total?: number }

/** The check run of an evaluation that takes a while. */
interface AnnouncementText {
  readonly status: 'queued' | 'in_progress'
  readonly title: string
  readonly summary: string
}

/** The text while it runs: `3 of 61 Kustomizations rendered (58 known)`. */
export function announcementOf(progress: Progress): AnnouncementText {
  const summary = 'Bailiwick posts the verdict here when it is done. Until then this check blocks.'
  if (progress.state === 'queued') return { status: 'queued', title: 'Queued', summary }
  const { rendered, known, total } = progress
  // a change may add some: then the total is unknown
  const isKnown = total !== undefined && total >= rendered + known
  const done = isKnown ? `${rendered} of ${count(total, 'Kustomization')}` : count(rendered, 'Kustomization')
  const title = `${done} rendered${known > 0 ? ` (${known} known)` : ''}`
  return { status: 'in_progress', title, summary }
}

const UNDECIDED = 'undecided'
const FORM =
  /^(?<version>\w+):(?<kind>branch|group|pull)-(?<revisionSet>\w+)\.(?<digest>[\da-f]{24})\.(?<lines>[\da-f]{24})(?:\.(?<bases>[\da-f]{24}))?$/
const KINDS = { branch: 'branch', 'merge-group': 'group', 'pull-request': 'pull' } as const

/**
 * The external id of a check run: version of engine and rules, what it is about, revision set, hash of the text, hash of
 * the annotated lines, hash of the base. Equal ids mean equal texts; GitHub keeps it, and it is all that is remembered of
 * a verdict.
 */
export function externalIdOf(
  outcome: Outcome,
  run: CheckRunText,
  kind: ReportContext['kind'],
  check: About = NO_BASES,
  isPaused = false,
): string {
  const { annotations, ...text } = run
  const about = `${KINDS[kind]}-${isPaused ? UNDECIDED : outcomeKey(outcome)}`
  return `${ENGINE_VERSION}:${about}.${digest(text)}.${digest(annotations)}.${basesOf(check)}`
}

type About = Pick<NamedCheck, 'bases' | 'followed'>

const NO_BASES: About = { bases: [], followed: [] }

/** Where no fleet follows a base, every one has the same verdict: nothing is affected. */
const basesOf = (check: About) => digest([isShared(check) ? check.bases : check.followed, check.followed])

/** Whether a run on the head of a pull request, or of a merge group, was published for the base of a check as it is now. */
export function isForBases(externalId: string, check: About): boolean {
  const found = FORM.exec(externalId)?.groups
  return found?.kind !== KINDS.branch && found?.bases === basesOf(check)
}

/** The version of engine and rules that gave the verdict of a check run; undefined for an id that is not of this form. */
export function versionOfExternalId(externalId: string): string | undefined {
  return FORM.exec(externalId)?.groups?.version
}

/** Whether nothing could be evaluated, or the gate was paused: no event reports the end of that. */
export function isUndecidedId(externalId: string): boolean {
  return FORM.exec(externalId)?.groups?.revisionSet === UNDECIDED
}

/** Whether both are ids of ours and annotate the same lines with the same words. */
export function annotatesTheSame(one: string, other: string): boolean {
  const [a, b] = [FORM.exec(one)?.groups?.lines, FORM.exec(other)?.groups?.lines]
  return a !== undefined && a === b
}

/** Errors that need no further attempt before the event that ends them. */
const ENDS_WITH_AN_EVENT: { readonly [code in ErrorCode]?: string } = {
  'merge-conflict': 'conflict',
  'check-shared': 'shared',
}

function outcomeKey(outcome: Outcome): string {
  if (outcome === undefined) return 'untouched'
  if (outcome instanceof BailiwickError) return ENDS_WITH_AN_EVENT[outcome.code] ?? UNDECIDED
  return /^\w+$/.test(outcome.revisionSet) ? outcome.revisionSet.slice(0, 24) : digest(outcome.revisionSet)
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 24)
}
