import { ended } from '../base/message.ts'
import { andMore } from '../base/name-list.ts'
import { visible } from '../base/visible.ts'
import type { Evaluated, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { compare, countFindings, distinct, groupFailures, isNew, uncheckedText, unseenFiles } from './summary.ts'

/** All of a verdict but its first line. */
type Unsummed = Omit<Verdict, 'summary'>

/** What others have that decides with it, where a verdict is shown to some only. */
interface Elsewhere {
  readonly violations: number
  readonly errors: number
}

const NOTHING: Elsewhere = { violations: 0, errors: 0 }
/** What GitHub, a terminal and a phone show of a title without a break. */
export const MAX_TITLE = 60
const MAX_TEXT = 200

/** The warning for a fleet without tenants: a green result must not be read as "they are kept apart". */
const NO_TENANTS =
  'No tenants found, so no tenancy rule applied: label a Namespace toolkit.fluxcd.io/tenant, render a Capsule Tenant, or list tenants in .github/bailiwick.yaml.'

export function withSummary(verdict: Unsummed): Verdict {
  // the part of a verdict has the first line of the whole until here
  return { ...verdict, summary: summaryOf(verdict) }
}

/** The result in one line of plain text: its title, and what limits it. `elsewhere`: counted only. */
export function summaryOf(verdict: Unsummed, elsewhere: Elsewhere = NOTHING): string {
  const title = titleOf(verdict, elsewhere)
  // what limits a pass follows in whole sentences
  return [ended(title.startsWith('Passed') ? title.split(';')[0]! : title), ...limitsOf(verdict)].join(' ')
}

/**
 * The title of a result, the same on every surface, in plain text: what decided it and whom it concerns, and of a pass what
 * limits it. At most 60 characters. The one place that makes it.
 */
export function titleOf(verdict: Unsummed, elsewhere: Elsewhere = NOTHING): string {
  const { result } = verdict
  const violations = verdict.violations.filter(isNew)
  const warnings = verdict.warnings.filter(isNew)
  const reported = warnings.filter(finding => finding.reported)
  const plain = countFindings(warnings.filter(finding => !finding.reported))
  const tail = plain > 0 ? `, ${count(plain, 'warning')}` : ''
  if (result === 'error') return undecidedTitle(verdict.errors.filter(isNew))
  if (result === 'fail') {
    if (violations.length === 0) return `${count(elsewhere.violations, 'violation')} elsewhere in the fleet`
    const number = count(countFindings(violations), 'violation')
    // where it is weighs more than how many warnings there are
    return fitting([...concerned(`${number}${tail}`, violations).slice(0, -1), ...concerned(number, violations)])
  }
  if (reported.length > 0) {
    // the mode is named first: a green check must not be read as clean
    return fitting(concerned(`Would block (report mode): ${count(countFindings(reported), 'violation')}`, reported))
  }
  if (verdict.errors.some(({ code }) => code === 'nothing-evaluated'))
    return 'Nothing was evaluated, before and after the change'
  return passTitle(verdict, plain)
}

/** The first of several forms, the longest first, that is a title. */
const fitting = (forms: readonly string[]): string => forms.find(one => one.length <= MAX_TITLE) ?? forms.at(-1)!

/** `2 violations in dev-team (production, staging)`, and shorter forms of it. */
function concerned(what: string, found: readonly (Finding | NodeFailure)[]): string[] {
  const tenants = distinct(found.map(({ tenant }) => tenant)).sort(compare)
  const clusters = distinct(found.map(({ cluster }) => cluster).filter(one => one !== '')).sort(compare)
  const named = tenants.filter(tenant => tenant !== '')
  const platform = named.length < tenants.length ? ['the platform'] : []
  const who = [...named.slice(0, named.length === 1 ? 1 : 0), ...platform].join(' and ')
  const few = [...(named.length === 0 ? [] : [count(named.length, 'tenant')]), ...platform].join(' and ')
  const where = clusters.length === 0 ? [] : [clusters.join(', '), count(clusters.length, 'cluster')]
  const whose = [...(named.length === 1 ? [who] : []), few].filter(one => one !== '')
  return [...whose.flatMap(one => where.map(on => `${what} in ${one} (${on})`)), what]
}

function undecidedTitle(fresh: readonly NodeFailure[]): string {
  const groups = groupFailures(fresh)
  const causes = groups.length
  const first = groups[0]?.failure
  if (first === undefined) return 'Could not be evaluated: an error elsewhere in the fleet'
  const forms = concerned(`Could not be evaluated: ${count(causes, 'error')}`, fresh)
  const message = visible(first.message)
  const whole = causes === 1 ? [message, message.split('. ')[0]!] : []
  return fitting([...whole.map(one => `Could not be evaluated: ${one}`), ...forms])
}

/** A pass, with as much of what limits it as a title holds: it must not be read as one about more. */
function passTitle(verdict: Unsummed, warnings: number): string {
  const { evaluated, filter } = verdict
  const passed = warnings > 0 ? `Passed with ${count(warnings, 'warning')}` : 'Passed'
  if (evaluated.tenants === 0 && evaluated.clusters > 0) return `${passed}; no tenants found, no tenancy rule ran`
  const limits = [...(filter ? [`only ${onlyNames(filter).join(' and ')}`] : []), ...caveats(verdict)]
  let title = passed
  let left = 0
  for (const limit of limits) {
    const next = `${title}${title === passed ? '; ' : ', '}${limit}`
    if (next.length <= MAX_TITLE) title = next
    else left++
  }
  // what has no room at all must not be missed
  return left > 0 && title === passed ? `${passed}; not all was checked` : title
}

/** What limits a pass, in a few words each, the most important first. */
function caveats(verdict: Unsummed): string[] {
  const { requiredApprovals, violations, errors, evaluated, belowErrors = 0 } = verdict
  const files = unseenFiles(verdict).length
  const versions = newVersionsOf(verdict)
  const of = (state: Finding['state']) => countFindings(violations.filter(one => one.state === state))
  const existing = causesOf(errors.filter(one => !isNew(one)))
  const some = (number: number, text: string) => (number > 0 ? [text] : [])
  return [
    ...some(files, `${count(files, 'changed file')} not checked`),
    ...some(
      unseenNodes(verdict),
      `${unseenNodes(verdict)} of ${count(evaluated.kustomizations.present, 'Kustomization')} not checked`,
    ),
    ...(unseenNodes(verdict) > 0 ? [] : notVisible(verdict).map(text => `${text} not visible`)),
    ...some(versions, `${count(versions, 'new version')} not checked`),
    ...some(requiredApprovals.length, 'a fleet admin must approve'),
    ...some(of('standing'), count(of('standing'), 'existing violation')),
    ...some(existing, count(existing, 'existing error')),
    ...some(belowErrors, `${count(belowErrors, 'Kustomization')} below an error`),
    ...some(of('waived'), count(of('waived'), 'waived violation')),
  ]
}

/** What limits a result, in sentences of plain text: what was not evaluated, what needs an approval, what exists already. */
export function limitsOf(verdict: Unsummed): string[] {
  const { evaluated, result } = verdict
  const isEmpty = evaluated.tenants === 0 && evaluated.clusters > 0 && result !== 'error'
  return [
    ...(isEmpty ? [NO_TENANTS] : []),
    ...only(verdict),
    ...unchecked(verdict),
    ...unseen(verdict),
    ...newVersions(verdict),
    ...approvals(verdict),
    ...existing(verdict),
    ...below(verdict),
    ...(evaluated.releases === 0 ? [] : [`Charts of ${count(evaluated.releases, 'HelmRelease')} are not rendered.`]),
    ...assumed(verdict),
    `Evaluated: ${extent(evaluated)}.`,
  ]
}

/** How much was evaluated: `31 Kustomizations, 412 objects, 3 clusters, 12 tenants`. */
function extent({ kustomizations, objects, clusters, tenants }: Evaluated): string {
  return [
    count(kustomizations.reached, 'Kustomization'),
    count(objects, 'object'),
    count(clusters, 'cluster'),
    ...(tenants === 0 ? [] : [count(tenants, 'tenant')]),
  ].join(', ')
}

/** Kustomizations whose source is not visible; the others that were not evaluated are built by no cluster. */
const unseenNodes = ({ evaluated: { kustomizations }, notReached }: Unsummed) =>
  Math.max(0, kustomizations.present - kustomizations.reached - notReached.length)

function unseen(verdict: Unsummed): string[] {
  const { kustomizations } = verdict.evaluated
  const [nodes, unreached] = [unseenNodes(verdict), verdict.notReached.length]
  const of = `of ${count(kustomizations.present, 'Kustomization')}`
  const sources = notVisible(verdict)
  const same = nodes > 0 && sources.length === 1 && sources[0] === count(nodes, 'source')
  return [
    ...(nodes === 0
      ? []
      : [
          `${nodes} ${of} ${nodes === 1 ? 'was not checked: its source is' : 'were not checked: their sources are'} not visible.`,
        ]),
    ...(sources.length === 0 || same ? [] : [`Not visible: ${sources.join(', ')}.`]),
    ...(unreached === 0 ? [] : [`${unreached} ${of} ${unreached === 1 ? 'is' : 'are'} built by no cluster.`]),
  ]
}

/** Files of the change that what is not visible may apply: no result is read as one about them. */
function unchecked(verdict: Unsummed): string[] {
  const files = unseenFiles(verdict)
  if (files.length === 0) return []
  const why = distinct(files.flatMap(({ by }) => by))
  const asks = verdict.requiredApprovals.some(({ because }) => because !== undefined)
  const text = ended(
    `${uncheckedText(files.length)}: ${cut(why[0]!)}${why.length > 1 ? ` (and ${why.length - 1} more)` : ''}`,
  )
  return [text, ...(asks ? [`A fleet admin must approve ${files.length === 1 ? 'it' : 'them'}.`] : [])]
}

const newVersionsOf = ({ warnings }: Unsummed) =>
  countFindings(warnings.filter(one => isNew(one) && one.rule === 'source-new-version'))

/** What the cluster newly gets of sources that are not visible. */
function newVersions(verdict: Unsummed): string[] {
  const all = newVersionsOf(verdict)
  return all === 0
    ? []
    : [`${count(all, 'new version')} of a source that is not visible ${all === 1 ? 'was' : 'were'} not checked.`]
}

function approvals({ requiredApprovals }: Unsummed): string[] {
  const all = requiredApprovals.filter(({ because }) => because === undefined)
  const [first] = all
  if (!first) return []
  const more = all.length > 1 ? ` (and ${all.length - 1} more)` : ''
  return [ended(`A fleet admin must approve the change: ${cut(first.message).replace(/\.$/, '')}${more}`)]
}

/** Existing findings: they do not block, and what they keep from being applied is listed. */
function existing({ violations, errors }: Unsummed): string[] {
  const of = (state: Finding['state']) => countFindings(violations.filter(one => one.state === state))
  const [standing, waived] = [of('standing'), of('waived')]
  const failures = errors.filter(one => !isNew(one))
  const causes = causesOf(failures)
  return [
    ...(standing > 0 ? [`${count(standing, 'existing violation')} ${standing === 1 ? 'does' : 'do'} not block.`] : []),
    ...(waived > 0 ? [`${count(waived, 'waived violation')}.`] : []),
    ...(causes > 0
      ? [
          `${count(causes, 'existing evaluation error')} ${causes === 1 ? 'does' : 'do'} not block.${notApplied(failures)}`,
        ]
      : []),
  ]
}

/** The error is the fleet's; every tenant whose Kustomizations hang below it must know that a merge has no effect yet. */
function below({ belowErrors = 0 }: Unsummed): string[] {
  if (belowErrors === 0) return []
  return [
    `${count(belowErrors, 'Kustomization')} ${belowErrors === 1 ? 'is' : 'are'} below an error of the fleet: until it is fixed, Flux keeps what it last applied there, and workers apply nothing.`,
  ]
}

function notApplied(failures: readonly NodeFailure[]): string {
  const nodes = distinct(failures.filter(one => one.blocksApply).map(one => one.node))
  if (nodes.length === 0) return ''
  const until = causesOf(failures) === 1 ? 'it is' : 'they are'
  return ` Flux applies nothing of ${cut(nodes[0]!)}${andMore(nodes.length - 1)} until ${until} fixed.`
}

const causesOf = (failures: readonly NodeFailure[]) => groupFailures(failures).length

const NOUNS = {
  sources: ['source', 'sources'],
  files: ['remote file', 'remote files'],
  values: ['set of values', 'sets of values'],
  objects: ['ResourceSet', 'ResourceSets'],
  facts: ['Kustomization that never built', 'Kustomizations that never built'],
} as const

function notVisible({ notSeen }: Unsummed): string[] {
  return Object.entries(NOUNS).flatMap(([kind, [one, many]]) => {
    const all = new Set(notSeen.filter(({ what = 'sources' }) => what === kind).map(({ source, url }) => url || source))
    return all.size === 0 ? [] : [`${all.size} ${all.size === 1 ? one : many}`]
  })
}

/** What is evaluated may not be what the cluster gets. */
function assumed({ notSeen }: Unsummed): string[] {
  const all = new Set(notSeen.filter(({ what }) => what === 'content').map(({ source, url }) => url || source))
  return all.size === 0 ? [] : [`The content of ${count(all.size, 'source')} is assumed.`]
}

/** A result about a part of the fleet must not be read as one about all of it. */
function only({ filter }: Unsummed): string[] {
  if (!filter) return []
  const { violations, errors } = filter.outside
  const outside = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'evaluation error')] : []),
  ].join(' and ')
  return [
    `Only ${onlyNames(filter)
      .map(one => cut(one))
      .join(' and ')}${outside === '' ? '' : ` (outside of it: ${outside})`}.`,
  ]
}

function onlyNames({ clusters, tenants }: NonNullable<Unsummed['filter']>): string[] {
  const of = (noun: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${noun}${names.length === 1 ? '' : 's'} ${names.join(', ')}`]
  return [...of('cluster', clusters), ...of('tenant', tenants)]
}

/** A text of at most so many characters; never cut inside a word, unless it is one word. */
export function cut(text: string, most = MAX_TEXT): string {
  if (text.length <= most) return text
  const start = text.slice(0, most - 1)
  const space = start.lastIndexOf(' ')
  return `${start.slice(0, space > 0 ? space : undefined)}…`
}

/** `1 violation`, `2 violations`. */
function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
