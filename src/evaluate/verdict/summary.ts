import { andMore } from '../../message/and-more.ts'
import type { Evaluated, Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { sourceNewVersion } from '../../rules/sources/source-new-version.ts'
import { uncheckedText } from '../changed/group-approvals.ts'
import { countFindings } from './group-findings.ts'

/** All of a verdict but its first line. */
type Unsummed = Omit<Verdict, 'summary'>

/** What others have that decides with it, where a verdict is shown to some only. */
interface Elsewhere {
  readonly violations: number
  readonly errors: number
}

const NOTHING: Elsewhere = { violations: 0, errors: 0 }
const MAX_TEXT = 110

/** What there is to say of a fleet without tenants: a green result must not be read as "they are kept apart". */
const NO_TENANTS =
  'No tenants found: tenancy rules did not apply (a namespace labeled toolkit.fluxcd.io/tenant, a Capsule Tenant or tenants in .github/bailiwick.yaml make one)'

export function withSummary(verdict: Unsummed): Verdict {
  // the part of a verdict has the first line of the whole until here
  return { ...verdict, summary: summaryOf(verdict) }
}

/**
 * The first line of a result, the same on every surface, in plain text: what decided it, in how much of the fleet, and
 * what limits that. `elsewhere`: counted only. The one place that makes it.
 */
export function summaryOf(verdict: Unsummed, elsewhere: Elsewhere = NOTHING): string {
  const { evaluated } = verdict
  const parts = [
    lead(verdict, elsewhere),
    ...unchecked(verdict),
    ...newVersions(verdict),
    ...approvals(verdict),
    ...existing(verdict),
    ...below(verdict),
    ...notVisible(verdict),
    ...(evaluated.releases === 0 ? [] : [`charts of ${count(evaluated.releases, 'HelmRelease')} not rendered`]),
    ...assumed(verdict),
    ...only(verdict),
  ]
  const noTenants = evaluated.tenants === 0 && evaluated.clusters > 0 && verdict.result !== 'error'
  return `${parts.join('; ')}${noTenants ? `. ${NO_TENANTS}` : ''}`
}

function lead(verdict: Unsummed, elsewhere: Elsewhere): string {
  const { result, evaluated } = verdict
  const violations = verdict.violations.filter(isNew)
  const warnings = verdict.warnings.filter(isNew)
  const reported = warnings.filter(finding => finding.reported)
  const plain = warnings.filter(finding => !finding.reported)
  const tail = plain.length > 0 ? `, ${count(countFindings(plain), 'warning')}` : ''
  const within = `in ${extent(evaluated)}`
  if (result === 'error') return `${undecided(verdict.errors)}; ${within}`
  if (result === 'fail') {
    if (violations.length === 0) return `${count(elsewhere.violations, 'violation')} elsewhere in the fleet; ${within}`
    return `${count(countFindings(violations), 'violation')}${tail}: ${concerned(violations)}; ${within}`
  }
  if (reported.length > 0) {
    // the mode is named first: a green check must not be read as clean
    return `Would block (report mode): ${count(countFindings(reported), 'violation')}${tail}: ${concerned(reported)}; ${within}`
  }
  if (verdict.errors.some(({ code }) => code === 'nothing-evaluated'))
    return `Nothing was evaluated, before and after the change; ${within}`
  const isClean = verdict.violations.every(({ state }) => state === 'fixed')
  return `No ${isClean ? '' : 'new '}violations${tail} in ${extent(evaluated)}`
}

/** How much was evaluated: `31 of 35 Kustomizations (412 objects, 3 clusters, 12 tenants)`. */
function extent({ kustomizations, objects, clusters, tenants }: Evaluated): string {
  const { reached, present } = kustomizations
  const of = reached === present ? count(reached, 'Kustomization') : `${reached} of ${count(present, 'Kustomization')}`
  const whose = tenants === 0 ? [] : [count(tenants, 'tenant')]
  return `${of} (${[count(objects, 'object'), count(clusters, 'cluster'), ...whose].join(', ')})`
}

function undecided(errors: readonly NodeFailure[]): string {
  const causes = [...new Map(errors.filter(isNew).map(one => [one.fingerprint, one])).values()]
  const first = causes[0] ?? errors[0]
  if (!first) return 'Could not be evaluated: something outside of what this repository is shown'
  return `Could not be evaluated: ${cut(first.message)}${causes.length > 1 ? ` (and ${causes.length - 1} more)` : ''}`
}

/** Files of the change that what is not visible may apply: no result is read as one about them. */
function unchecked({ changedFiles = [], requiredApprovals }: Unsummed): string[] {
  const files = changedFiles.filter(({ state }) => state === 'unseen')
  if (files.length === 0) return []
  const why = new Set(files.flatMap(({ by }) => by))
  const asks = requiredApprovals.some(({ because }) => because !== undefined)
  const text = uncheckedText(files.length, cut([...why][0]!))
  return [
    `${asks ? 'required approval of a fleet admin: ' : ''}${text}${why.size > 1 ? ` (and ${why.size - 1} more)` : ''}`,
  ]
}

/** What the cluster newly gets of sources that are not visible. */
function newVersions({ warnings }: Unsummed): string[] {
  const all = countFindings(warnings.filter(one => isNew(one) && one.rule === sourceNewVersion.id))
  return all === 0 ? [] : [`${count(all, 'new version')} not checked`]
}

function approvals({ requiredApprovals }: Unsummed): string[] {
  const all = requiredApprovals.filter(({ because }) => because === undefined)
  const [first] = all
  if (!first) return []
  return [
    `required approval of a fleet admin: ${cut(first.message)}${all.length > 1 ? ` (and ${all.length - 1} more)` : ''}`,
  ]
}

/** What was there before the change: it does not block, and what it keeps from being applied is said. */
function existing({ violations, errors }: Unsummed): string[] {
  const of = (state: Finding['state']) => countFindings(violations.filter(one => one.state === state))
  const [standing, waived] = [of('standing'), of('waived')]
  const failures = errors.filter(one => !isNew(one))
  const causes = new Set(failures.map(one => one.fingerprint)).size
  return [
    ...(standing > 0 ? [count(standing, 'existing violation')] : []),
    ...(waived > 0 ? [count(waived, 'waived violation')] : []),
    ...(causes > 0 ? [`${count(causes, 'existing evaluation error')}${notApplied(failures)}`] : []),
  ]
}

/** The error is the fleet's; that a merge has no effect yet is for everybody whose Kustomizations hang below it. */
function below({ belowErrors = 0 }: Unsummed): string[] {
  if (belowErrors === 0) return []
  return [
    `${count(belowErrors, 'Kustomization')} below an error of the fleet (until it is fixed, Flux keeps what it last applied there, and workers apply nothing)`,
  ]
}

function notApplied(failures: readonly NodeFailure[]): string {
  const nodes = [...new Set(failures.filter(one => one.blocksApply).map(one => one.node))]
  if (nodes.length === 0) return ''
  const more = andMore(nodes.length - 1)
  return ` (Flux applies nothing of ${cut(nodes[0]!)}${more} until ${causesText(failures)} fixed)`
}

const causesText = (failures: readonly NodeFailure[]) =>
  new Set(failures.map(one => one.fingerprint)).size === 1 ? 'it is' : 'they are'

const NOUNS = {
  sources: ['source', 'sources'],
  files: ['remote file', 'remote files'],
  values: ['set of values', 'sets of values'],
  objects: ['ResourceSet', 'ResourceSets'],
  facts: ['Kustomization that never built', 'Kustomizations that never built'],
} as const

function notVisible({ notSeen }: Unsummed): string[] {
  const parts = Object.entries(NOUNS).flatMap(([kind, [one, many]]) => {
    const all = new Set(notSeen.filter(({ what = 'sources' }) => what === kind).map(({ source, url }) => url || source))
    return all.size === 0 ? [] : [`${all.size} ${all.size === 1 ? one : many}`]
  })
  return parts.length === 0 ? [] : [`${parts.join(', ')} not visible`]
}

/** What is evaluated may not be what the cluster gets. */
function assumed({ notSeen }: Unsummed): string[] {
  const all = new Set(notSeen.filter(({ what }) => what === 'content').map(({ source, url }) => url || source))
  return all.size === 0 ? [] : [`content of ${count(all.size, 'source')} assumed`]
}

/** A result about a part of the fleet must not be read as one about all of it. */
function only({ filter }: Unsummed): string[] {
  if (!filter) return []
  const of = (noun: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${noun}${names.length === 1 ? '' : 's'} ${names.join(', ')}`]
  const { violations, errors } = filter.outside
  const outside = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'evaluation error')] : []),
  ].join(' and ')
  const names = [...of('cluster', filter.clusters), ...of('tenant', filter.tenants)].map(cut).join(' and ')
  return [`only ${names}${outside === '' ? '' : ` (outside of it: ${outside})`}`]
}

const isNew = ({ state }: { readonly state: Finding['state'] }) => state === 'new'

const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text)

/** `1 violation`, `2 violations`. */
function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function concerned(findings: readonly Finding[]): string {
  const all = [...new Set(findings.map(finding => finding.tenant))].sort()
  const clusters = [...new Set(findings.map(finding => finding.cluster))].sort()
  const tenants = all.filter(tenant => tenant !== '')
  const who = [
    ...(tenants.length === 0 ? [] : [tenants.length === 1 ? `tenant ${tenants[0]}` : count(tenants.length, 'tenant')]),
    ...(tenants.length < all.length ? ['the platform'] : []),
  ].join(' and ')
  return `${who} on ${clusters.length <= 3 ? clusters.join(', ') : count(clusters.length, 'cluster')}`
}
