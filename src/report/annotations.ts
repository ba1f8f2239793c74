import { type FindingGroup, groupFindings } from '../evaluate/verdict/group-findings.ts'
import { display } from '../kube/object.ts'
import { andMore } from '../message/and-more.ts'
import { visible } from '../message/visible.ts'
import type { Finding, Verdict } from '../rules/model/finding.ts'
import type { ReportContext } from './outcome.ts'
import { fixText } from './text/fix-text.ts'
import { type FailureGroup, firstOf, groupFailures } from './text/group-failures.ts'
import { count, isNew } from './text/headline.ts'
import { placeOf } from './text/place.ts'

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

/** What stands at lines of this repository: new errors, then new violations by severity, then new warnings. */
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

/** How many objects of one cause are named. */
const MAX_OBJECTS = 20

/** One annotation for each cause. */
function annotation(group: FindingGroup, level: Annotation['level'], context: ReportContext): Annotation[] {
  const { finding, objects, clusters, identities, followers } = group
  const { origin } = finding
  if (origin.repository !== context.repository || origin.file === '') return []
  const place = changedPlace(finding, context)
  if (!isShown(place.file, context)) return []
  const whose = objects.length === 1 ? display(finding.object) : count(objects.length, 'object')
  const lines = [
    visible(finding.message, 2000),
    ...(objects.length > 1 ? [`Objects: ${named(objects.map(({ object }) => display(object)))}`] : []),
    ...followers.map(one => `Follows from this: ${one.finding.rule} for ${count(one.objects.length, 'object')}`),
    `Applied by ${named(identities)}`,
    `Fix: ${visible(fixText(group, context.repository), 1000)}`,
    ...(place.file === origin.file ? [] : [`Written at ${visible(placeOf(origin, context.repository))}`]),
  ]
  return [
    {
      path: place.file,
      line: Math.max(1, place.line),
      level,
      title: visible(`${finding.rule}: ${whose} (${clusters.join(', ')})`, 200),
      message: lines.join('\n'),
    },
  ]
}

function named(all: readonly string[]): string {
  const { shown, left } = firstOf(all, MAX_OBJECTS)
  return `${shown.map(name => visible(name)).join(', ')}${andMore(left)}`
}

/** GitHub shows lines of changed files only; what is written elsewhere stands in the summary. */
function isShown(file: string, { changedPaths }: ReportContext): boolean {
  return isAnnotatable(file) && (changedPaths === undefined || changedPaths.has(file))
}

/** Whether lines of a file can be annotated: git allows names that no API is made for, and one refused line loses all of them. */
export function isAnnotatable(file: string): boolean {
  return file !== '' && file.length <= 1000 && !/[\p{Cc}\p{Cs}]/u.test(file)
}

/** GitHub shows an annotation in the diff only on a changed file: prefer the changed overlay that leads to the origin. */
function changedPlace(finding: Finding, { changedPaths }: ReportContext): { file: string; line: number } {
  const { origin } = finding
  if (!changedPaths || changedPaths.has(origin.file)) return origin
  // steps of Flux may stand in another repository than the origin, those of kustomize never do
  const own = finding.via.filter(step => !step.step.startsWith('flux-') && step.step !== 'kustomization')
  return own.find(step => changedPaths.has(step.file)) ?? origin
}

function failureAnnotation({ failure, nodes }: FailureGroup, context: ReportContext): Annotation[] {
  const { origin } = failure
  const { shown, left } = firstOf(nodes)
  const whose = `${shown.join(', ') || 'the fleet'}${andMore(left)}`
  if (origin.repository !== context.repository || origin.file === '' || !isShown(origin.file, context)) return []
  return [
    {
      path: origin.file,
      line: Math.max(1, origin.line),
      level: 'failure',
      title: visible(`could not be evaluated (${failure.code}): ${whose}`, 200),
      message: `${visible(failure.message, 2000)}${failure.fix ? `\nFix: ${visible(failure.fix, 1000)}` : ''}`,
    },
  ]
}
