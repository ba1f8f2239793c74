import { terminalOf } from '../../base/markup.ts'
import { fixOf, type Message, typedMessage } from '../../base/message.ts'
import { firstNames } from '../../base/name-list.ts'
import type { Origin } from '../../base/origin.ts'
import { redactLines, visible } from '../../base/visible.ts'
import { display, type ObjectId } from '../../kube/object.ts'
import type { Finding, RequiredApproval, Verdict } from '../../rules/model/finding.ts'
import {
  type FailureGroup,
  type FindingGroup,
  groupApprovals,
  groupFailures,
  groupFindings,
} from '../../verdict/summary.ts'
import { changesLines } from '../changes.ts'
import { assumedClusters } from '../outcome.ts'
import { listedImpact, policiesLeft } from '../policy-impact.ts'
import { fixMessage, isNew, noteOf, resultLine, stateText } from '../text/findings.ts'
import { fitLines } from '../text/fit-budget.ts'
import { markedValue, placeOf } from '../text/place.ts'
import { changedFilesLines } from '../verdict-sections.ts'
import { type EvaluatedAs, elsewhereText, type FormatContext, NOTHING_ELSEWHERE } from './format-context.ts'

/**
 * The verdict as lines for a terminal: what blocks first, each with place, who, what and how to fix. Every value is made
 * visible: it may hold escape sequences. With `look.color` values in messages stand out by what they are. With `look.lines` only
 * as many entries as fit are shown, the worst first, and what was left out is counted. The line with the
 * result counts what is not visible, even if `look.quiet` hides everything that does not block.
 */
export function terminalText(verdict: Verdict, here: string, look: Look = {}): string {
  const { elsewhere = NOTHING_ELSEWHERE, changes, evaluatedAs } = look
  const changed = changes && !look.quiet ? changesLines(changes, look.verbose) : []
  const end = [
    ...fitted([resultLine({ verdict, hidden: elsewhere })], look),
    ...(evaluatedAs && !look.quiet ? fitted([asLine(evaluatedAs)], look) : []),
  ]
  const all = entriesOf(verdict, here, look)
  const room = look.lines === undefined ? Number.POSITIVE_INFINITY : look.lines - end.length - changed.length
  return `${[...shownEntries(all, room), ...changed, ...end].join('\n')}\n`
}

/** What is printed, or left out, as a whole. `noun`: what it is one of. */
interface Entry {
  readonly noun: string
  readonly lines: readonly string[]
}

/** Everything, the worst first. */
function entriesOf(verdict: Verdict, here: string, look: Look): Entry[] {
  const say = (message: Message) => terminalOf(message, 1000, look.color)
  const entries = <T>(noun: string, items: readonly T[], lines: (one: T) => readonly string[]) =>
    items.map((one): Entry => ({ noun, lines: lines(one) }))
  const findings = (list: readonly Finding[], noun: string) =>
    entries(noun, groupFindings(list), group => findingLines(group, noun, here, say, look))
  const errors = groupFailures(look.quiet ? verdict.errors.filter(isNew) : verdict.errors)
  const blocking = [
    ...entries('required approval', groupApprovals(verdict.requiredApprovals), approvalLines),
    ...entries('evaluation error', errors, group => failureLines(group, here, say, look)),
    ...findings(look.quiet ? verdict.violations.filter(isNew) : shown(verdict.violations), 'violation'),
  ]
  if (look.quiet) return blocking
  const others = elsewhereText(look.elsewhere ?? NOTHING_ELSEWHERE)
  const assumed = assumedClusters(verdict)
  const line = (text: string) => fitted([text], look)
  const [impact, changed] = [impactText(verdict, here), changedLines(verdict)]
  return [
    ...blocking,
    ...findings(shown(verdict.warnings), 'warning'),
    ...(impact.length > 0 ? [{ noun: 'list of policies', lines: fitted(impact, look) }] : []),
    ...(others === undefined ? [] : [{ noun: 'note', lines: line(`not listed: ${others}`) }]),
    ...(assumed === undefined ? [] : [{ noun: 'note', lines: line(visible(assumed, 1000)) }]),
    ...entries('source that is not visible', verdict.notSeen, ({ source, url, reason }) => {
      const at = url === '' ? '' : ` (${visible(url)})`
      return line(`not visible: ${visible(source)}${at}: ${visible(reason)}`)
    }),
    ...entries('Kustomization that is not reached', notReachedLines(verdict, here), line),
    ...(changed.length > 0 ? [{ noun: 'list of changed files', lines: fitted(changed, look) }] : []),
    ...entries('kind that is not evaluated', groupFindings(verdict.notEvaluated), ({ finding }) =>
      line(`not evaluated: ${say(typedMessage(finding))}`),
    ),
  ]
}

/** As many entries as fit, at least the first, and one line that counts the others. */
function shownEntries(all: readonly Entry[], room: number): string[] {
  const whole = all.reduce((sum, { lines }) => sum + lines.length, 0)
  const shown: string[] = []
  let kept = 0
  for (const { lines } of all) {
    if (kept > 0 && whole > room && shown.length + lines.length > room - LEFT_LINES) break
    shown.push(...lines)
    kept++
  }
  const left = Map.groupBy(all.slice(kept), ({ noun }) => noun)
  if (left.size === 0) return shown
  const counts = [...left].map(([noun, { length }]) => plural(length, noun))
  return [...shown, `… and ${counts.join(', ')} (--verbose lists all)`, '']
}

const LEFT_LINES = 2

/** `2 sources that are not visible`. */
function plural(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`
  const [, head = noun, rest = ''] = /^(\w+)(?= that | of )(.*)$/.exec(noun) ?? []
  return `${number} ${head}s${rest.replace(/^ that is /, ' that are ')}`
}

type Look = Omit<FormatContext, 'here' | 'rules' | 'version'>

function asLine({ repository, branch, because, versions }: EvaluatedAs): string {
  const more = versions.length > 0 ? ` and as the next ${versions.join(', ')}` : ''
  return visible(`evaluated as branch ${branch} of ${repository || 'this folder'} (${because})${more}`, 500)
}

/** Details below a finding; its first line stays whole, because editors match it. */
const fitted = (lines: readonly string[], { columns }: Look) =>
  columns === undefined ? lines : fitLines(lines, columns)

const shown = (list: readonly Finding[]) =>
  list.filter(finding => finding.state === 'new' || finding.state === 'standing')

function impactText(verdict: Verdict, here: string): string[] {
  const impact = listedImpact(verdict, here, text => visible(text))
  if (!impact) return []
  return [
    `policies: ${impact.heading}`,
    ...impact.lines.flatMap(({ head, tenants }) => [`  ${head}`, ...tenants.map(line => `    ${line}`)]),
    ...(impact.left > 0 ? [`  ${policiesLeft(impact)} (-o json lists all)`] : []),
    '',
  ]
}

/** A message as it is written on the reader's terminal. */
type Say = (message: Message) => string

/** Maximum items of a list on one line. */
const FEW = 20

function findingLines(group: FindingGroup, noun: string, here: string, say: Say, look: Look): string[] {
  const { finding, objects, clusters, tenants, identities, followers } = group
  const answer = objects.length === 1 ? finding.clusterAnswer : undefined
  const state = isNew(finding) ? '' : ` (${stateText(finding.state)})`
  const branch = look.branchOf?.(finding.origin, finding.node)
  // as git names the file of another branch
  const place = branch
    ? visible(`${branch}:${placeOf(finding.origin, here)}`)
    : linkedPlace(finding.origin, here, look) || 'no file'
  const head = `${place}: ${noun}[${finding.rule}]${state}: ${say(typedMessage(finding))}`
  const lines = [
    ...(objects.length === 1
      ? [`  object   ${objectText(group, finding.object)} ${visible(finding.field)}, on ${list(clusters)}`]
      : [
          `  objects  ${objects.length}, on ${list(clusters)}`,
          ...objects.slice(0, FEW).map(one => `           ${objectText(group, one.object, one.clusters)}`),
          ...(objects.length > FEW ? [`           and ${objects.length - FEW} more (-o json lists all)`] : []),
        ]),
    `  who      ${list(identities)} (${list(tenants.map(tenant => (tenant === '' ? 'the platform' : `tenant ${tenant}`)))})`,
  ]
  if (look.verbose && finding.via.length > 0) {
    const via = finding.via.map(step => `${step.step} ${step.file}:${step.line}`).join(', ')
    lines.push(`  through  ${visible(via)}`)
  }
  if (answer) lines.push(`  cluster  ${visible(answer, 600)}`)
  lines.push(`  fix      ${say(fixMessage(group, here))}`)
  if (noun === 'violation' && isNew(finding)) lines.push(`  waive    ${waiveLine(finding)}`)
  const also = followers.map(one => {
    const names = one.objects.map(({ object }) => display(object))
    return `  also     ${noun}[${one.finding.rule}] follows from this: ${list(names)}`
  })
  lines.push(...new Set(also))
  return [head, ...(finding.isBefore ? [] : excerptLines(finding, look.excerpt)), ...fitted(lines, look), '']
}

/** The command that accepts it; of several objects the first. */
const waiveLine = ({ rule, object }: Finding) =>
  `bailiwick waive ${rule} ${visible(display(object)).replace(' ', '/')} --reason TEXT`

/** Its clusters are named where they are not all of those of the finding. */
function objectText(group: FindingGroup, object: ObjectId, on: readonly string[] = group.clusters): string {
  return `${visible(display(object))}${on.length < group.clusters.length ? ` (${list(on)})` : ''}`
}

const list = (names: readonly string[]): string => firstNames(names, FEW, name => visible(name))

function approvalLines({ rule, path, message }: RequiredApproval): string[] {
  return [
    `${visible(path)}: required approval[${rule}]: ${visible(message, 1000)}`,
    '  fix      Have a fleet admin approve the pull request.',
    '',
  ]
}

function failureLines(group: FailureGroup, here: string, say: Say, look: Look): string[] {
  const { failure, nodes } = group
  const place = linkedPlace(failure.origin, here, look)
  const state = isNew(failure) ? '' : ' (existing)'
  const note = noteOf(group, here)
  const details = [
    ...(nodes.length > 0 ? [`  node     ${list(nodes)}`] : []),
    ...(note === '' ? [] : [`  note     ${note}`]),
    ...(failure.fix ? [`  fix      ${say(fixOf(failure))}`] : []),
  ]
  const head = `${place ? `${place}: ` : ''}error[${failure.code}]${state}: ${say(typedMessage(failure))}`
  return [head, ...fitted(details, look), '']
}

/** What is rendered shows as what changes on the clusters. */
function changedLines({ changedFiles = [] }: Verdict): string[] {
  if (changedFiles.every(({ state }) => state === 'rendered')) return []
  const { counts, lines } = changedFilesLines(changedFiles, text => visible(text, 300), 'rendered')
  return [counts, ...lines.map(line => `  ${line}`)]
}

/** Maximum number listed one by one. */
const FEW_NOT_REACHED = 10

function notReachedLines({ notReached }: Verdict, here: string): string[] {
  const lines = notReached.slice(0, FEW_NOT_REACHED).map(({ id, origin, reason }) => {
    const what = id === '' ? '' : `${visible(id)} (${visible(placeOf(origin, here))}): `
    return `not reached: ${what}${visible(reason)}`
  })
  const left = notReached.length - lines.length
  return left > 0 ? [...lines, `not reached: ${left} more Kustomizations (-o json lists all)`] : lines
}

/**
 * `file:line`, as a link (OSC 8) if the terminal supports links and the file is in the local repository. The URL is percent-encoded, so
 * that a file name cannot end the escape sequence. Source: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
 */
function linkedPlace(origin: Origin, here: string, { folder }: Pick<FormatContext, 'folder'>): string {
  const place = visible(placeOf(origin, here))
  const isHere = origin.repository === here || origin.repository === ''
  if (folder === undefined || !isHere || place === '') return place
  const path = `${folder}/${origin.file}`.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return `\u001b]8;;file://${path}${origin.line > 0 ? `#L${origin.line}` : ''}\u001b\\${place}\u001b]8;;\u001b\\`
}

const WIDEST = 160

/**
 * The source line of the offending value, with carets below the value. Shows nothing from a Secret and no line with a credential,
 * because the output may go to the log of a CI job.
 */
function excerptLines({ origin, object }: Finding, excerpt: FormatContext['excerpt']): string[] {
  const text = excerpt?.(origin)?.replace(/\r$/, '')
  if (text === undefined || text.length > WIDEST || object.kind === 'Secret' || redactLines([text])[0] !== text)
    return []
  const marked = markedValue(text, origin.column)
  if (!marked) return []
  const before = visible(text.slice(0, marked.start))
  const value = text.slice(marked.start, marked.end)
  const gutter = String(origin.line)
  return [
    `  ${gutter} | ${visible(text, WIDEST * 2)}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}${'^'.repeat(Math.max(1, visible(value).length))}`,
  ]
}
