import { andMore } from '../base/name-list.ts'
import { objectCause, placeText } from '../fleet/facts/fingerprint.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { Evaluated, Finding, NodeFailure, RequiredApproval, Severity, Verdict } from '../rules/model/finding.ts'

/** All of a verdict but its first line. */
type Unsummed = Omit<Verdict, 'summary'>

/** What others have that decides with it, where a verdict is shown to some only. */
interface Elsewhere {
  readonly violations: number
  readonly errors: number
}

const NOTHING: Elsewhere = { violations: 0, errors: 0 }
const MAX_TEXT = 110

/** The warning for a fleet without tenants: a green result must not be read as "they are kept apart". */
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
  const all = countFindings(warnings.filter(one => isNew(one) && one.rule === 'source-new-version'))
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

/** Existing findings: they do not block, and what they keep from being applied is listed. */
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

/** The error is the fleet's; every tenant whose Kustomizations hang below it must know that a merge has no effect yet. */
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

/** An object that a cause reaches. */
interface ReachedObject {
  readonly object: ObjectId
  readonly clusters: readonly string[]
  /** Its own finding, on the first of the clusters. */
  readonly finding: Finding
}

/** Findings of one rule with one cause, the line that wrote the offending value: one finding to people. */
export interface FindingGroup {
  /** The one that is quoted: that of the first object. */
  readonly finding: Finding
  readonly objects: readonly ReachedObject[]
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
  readonly identities: readonly string[]
  /** Findings of other rules that follow from this one. They are shown below it, and not counted. */
  readonly followers: readonly FindingGroup[]
}

const WEIGHT: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3 }

/**
 * Puts findings with one cause together; the most severe first, then by rule, file and line. For people only: JSON,
 * fingerprints, baseline, waivers and exit codes stay per object. What follows from another finding is below that.
 */
export function groupFindings(findings: readonly Finding[]): FindingGroup[] {
  return followed([...Map.groupBy(findings, causeKey).values()].map(groupOf).sort(byWeight))
}

/** How many findings people count: distinct causes. */
export function countFindings(findings: readonly Finding[]): number {
  return groupFindings(findings).length
}

function causeKey(finding: Finding): string {
  const { rule, level, reported = false, severity, state, origin, cause } = finding
  const what = [rule, level, reported, severity, state]
  if (finding.isShared) return JSON.stringify([...what, cause])
  // without a line only the object and the words distinguish two
  const { tenant, object, field, message } = finding
  if (origin.file === '') return JSON.stringify([...what, tenant, object, field, message])
  const { repository, file, line, column } = origin
  return JSON.stringify([...what, repository, file, line, cause ?? [column, nameOf(field)]])
}

/** The last step of a pointer that is not an index. */
const nameOf = (field: string): string => field.split('/').findLast(step => !/^\d+$/.test(step)) ?? ''

function groupOf(findings: readonly Finding[]): FindingGroup {
  const objects = [...Map.groupBy(findings, ({ object }) => JSON.stringify(object)).values()].map(all => ({
    object: all[0]!.object,
    clusters: distinct(all.map(({ cluster }) => cluster)).sort(compare),
    finding: all[0]!,
  }))
  objects.sort((a, b) => compare(display(a.object), display(b.object)))
  return {
    finding: objects[0]!.finding,
    objects,
    clusters: distinct(findings.map(({ cluster }) => cluster)).sort(compare),
    tenants: distinct(findings.map(({ tenant }) => tenant)),
    identities: distinct(findings.map(({ identity }) => identity)),
    followers: [],
  }
}

/** A rule's finding follows from another rule's at the same line: one edit fixes both. */
const AT_THE_SAME_LINE: ReadonlyMap<string, readonly string[]> = new Map([
  ['namespace-confinement', ['target-namespace']],
  ['admission-config', ['cluster-scoped-forbidden']],
  ['crd-admission', ['cluster-scoped-forbidden']],
  ['schema-mismatch', ['account-cannot-apply', 'sops-not-decrypted']],
])
const LEADERS: ReadonlySet<string> = new Set([...AT_THE_SAME_LINE.values()].flat())
/** Rules by which a Namespace is not the tenant's; the objects in it follow. */
const OF_NAMESPACES = ['cluster-scoped-forbidden', 'namespace-ownership']
/** Rules by which an object is where it may not be, and rules that find what follows for the same object. */
const OF_OBJECTS = ['cluster-scoped-forbidden', 'namespace-confinement', 'namespace-ownership', 'target-namespace']
const IN_OBJECTS = [
  'rbac-cluster-binding',
  'rbac-escalation',
  'rbac-foreign-subject',
  'ownership-conflict',
  'sa-required',
]
/** Rules whose findings about an object follow from that about its Namespace. */
const IN_NAMESPACES = ['namespace-confinement', 'namespace-ownership', 'account-cannot-apply']
/** Rules that find what the removal of a Namespace leaves in it. */
const AFTER_REMOVAL = ['prune-account-removed', 'identity-object-tamper', 'tenant-removed', 'namespace-confinement']

/** Each group below the one that it follows from, and, of several rules about the same value, below the most severe. */
const followed = (groups: readonly FindingGroup[]): FindingGroup[] =>
  joined(
    joined(groups, leaderKeys, followerKeys, isWithin),
    sameValue,
    sameValue,
    (one, other) => one.finding.rule !== other.finding.rule,
  )

/** What is found at another line and on more clusters than the other finding has a cause of its own there. */
const isWithin = (group: FindingGroup, leader: FindingGroup) =>
  placeText(group.finding.origin) === placeText(leader.finding.origin) ||
  group.clusters.every(cluster => leader.clusters.includes(cluster))

/** No rule follows from itself by others, whatever the findings: a bound all the same. */
const MAX_DEPTH = 8

type KeysOf = (group: FindingGroup) => string[]

/** Puts groups below the topmost one that they find by one of their keys; of several with a key, the first. */
function joined(
  groups: readonly FindingGroup[],
  keysOf: KeysOf,
  wanted: KeysOf,
  isBelow: (group: FindingGroup, leader: FindingGroup) => boolean = () => true,
): FindingGroup[] {
  const leaders = new Map<string, FindingGroup>()
  for (const group of groups) for (const key of keysOf(group)) if (!leaders.has(key)) leaders.set(key, group)
  if (leaders.size === 0) return [...groups]
  const topmost = (group: FindingGroup, depth = 0): FindingGroup => {
    const leader = wanted(group)
      .map(key => leaders.get(key))
      .find(one => one !== undefined)
    if (leader === undefined || leader === group || !isBelow(group, leader) || depth === MAX_DEPTH) return group
    return topmost(leader, depth + 1)
  }
  return [...Map.groupBy(groups, one => topmost(one))]
    .map(([top, all]) => ({
      ...top,
      followers: all.flatMap(group => (group === top ? group.followers : [group, ...group.followers])),
    }))
    .sort(byWeight)
}

/** By what others find the one that they follow from. */
function leaderKeys({ finding, objects }: FindingGroup): string[] {
  const { rule, state, level, origin, tenant, object, cause, isShared } = finding
  const leads = objects.flatMap(one => one.finding.leads ?? [])
  const isNamespace = objects.length === 1 && object.kind === 'Namespace' && object.apiVersion === 'v1'
  return [
    ...(isShared ? [cause, ...leads] : leads).map(one => [one]),
    ...(origin.file === '' || !LEADERS.has(rule) ? [] : [[rule, origin.repository, origin.file, origin.line]]),
    ...(OF_OBJECTS.includes(rule) ? objects.map(one => ['object', tenant, one.object]) : []),
    ...(isNamespace && OF_NAMESPACES.includes(rule) ? [[tenant, object.name]] : []),
  ].map(key => JSON.stringify([state, level, ...key]))
}

/** The value that a finding is about; of a removed object, the whole object. */
function sameValue({ finding: { state, level, reported, origin, field, isBefore } }: FindingGroup): string[] {
  const { repository, file, line, column } = origin
  if (file === '') return []
  const value = isBefore ? [] : [column, nameOf(field)]
  return [JSON.stringify([state, level, reported === true, repository, file, line, ...value])]
}

function followerKeys({ finding, tenants }: FindingGroup): string[] {
  const { rule, state, level, origin, tenant, object, follows = [] } = finding
  const sameLine = AT_THE_SAME_LINE.get(rule) ?? []
  const isInside = IN_NAMESPACES.includes(rule) && object.namespace !== '' && tenants.length === 1
  return [
    ...follows.map(cause => [cause]),
    ...(origin.file === '' ? [] : sameLine.map(leader => [leader, origin.repository, origin.file, origin.line])),
    ...(IN_OBJECTS.includes(rule) ? [['object', tenant, object]] : []),
    ...(isInside ? [[tenant, object.namespace]] : []),
    ...(AFTER_REMOVAL.includes(rule)
      ? [[objectCause({ kind: 'Namespace', namespace: '', name: object.namespace })]]
      : []),
  ].map(key => JSON.stringify([state, level, ...key]))
}

/** Order in which findings are shown: one weighs as much as the heaviest of those below it. */
function byWeight(one: FindingGroup, other: FindingGroup): number {
  const [{ finding: a }, { finding: b }] = [one, other]
  return (
    weightOf(one) - weightOf(other) ||
    compare(a.rule, b.rule) ||
    compare(a.origin.repository, b.origin.repository) ||
    compare(a.origin.file, b.origin.file) ||
    a.origin.line - b.origin.line ||
    compare(a.cluster, b.cluster)
  )
}

const weightOf = ({ finding, followers }: FindingGroup): number =>
  Math.min(WEIGHT[finding.severity], ...followers.map(weightOf))

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const distinct = (list: readonly string[]) => [...new Set(list)]

/** The approvals as shown to people: files that were not checked for the same cause are one, at the first file. */
export function groupApprovals(approvals: readonly RequiredApproval[]): RequiredApproval[] {
  const groups = Map.groupBy(approvals, one => (one.because === undefined ? one : `${one.rule} ${one.because}`))
  return [...groups.values()].map(all => {
    const [first] = all as [RequiredApproval, ...RequiredApproval[]]
    return first.because === undefined ? first : { ...first, message: uncheckedText(all.length, first.because) }
  })
}

/** How many files of a change were not evaluated, and why. */
function uncheckedText(files: number, why: string): string {
  return `${files} changed ${files === 1 ? 'file was' : 'files were'} not checked: ${why}`
}

/** What a verdict comes to: only what is new decides, an error before a violation. */
export function resultOf(violations: readonly Finding[], errors: readonly NodeFailure[]): Verdict['result'] {
  if (errors.some(isNew)) return 'error'
  return violations.some(isNew) ? 'fail' : 'pass'
}
