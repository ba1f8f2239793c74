import { oncePer } from '../base/once-per.ts'
import { contentCause, objectCause, placeText } from '../fleet/facts/fingerprint.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { Finding, NodeFailure, RequiredApproval, Severity, Verdict } from '../rules/model/finding.ts'

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
export function groupFindings(findings: readonly Finding[]): readonly FindingGroup[] {
  const [first] = findings
  if (first === undefined) return []
  // a report counts and lists the same findings in many places
  const lists = groupedFrom(first)
  const known = lists.find(
    one => one.findings.length === findings.length && one.findings.every((f, i) => f === findings[i]),
  )
  if (known) return known.groups
  const groups = followed([...Map.groupBy(findings, causeKey).values()].map(groupOf).sort(byWeight))
  lists.unshift({ findings: [...findings], groups })
  lists.length = Math.min(lists.length, MAX_LISTS)
  return groups
}

interface Grouped {
  readonly findings: readonly Finding[]
  readonly groups: readonly FindingGroup[]
}

/** Lists that begin with a finding and were grouped last. */
const groupedFrom = oncePer((_first: Finding): Grouped[] => [])
const MAX_LISTS = 2

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

function followerKeys({ finding, objects, tenants }: FindingGroup): string[] {
  const { rule, state, level, origin, tenant, object } = finding
  const follows = distinct(objects.flatMap(one => one.finding.follows ?? []))
  const sameLine = AT_THE_SAME_LINE.get(rule) ?? []
  const isInside = IN_NAMESPACES.includes(rule) && object.namespace !== '' && tenants.length === 1
  return [
    ...follows.map(cause => [cause]),
    [contentCause(finding.node)],
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

export const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

export const distinct = (list: readonly string[]) => [...new Set(list)]

/** The same evaluation error of one or more nodes: listed once. */
export interface FailureGroup {
  readonly failure: NodeFailure
  /** Keys of the nodes, in order; empty for what is about all of it. */
  readonly nodes: readonly string[]
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
  /** Errors that may follow from it. They are shown below it, and not counted. */
  readonly followers: readonly NodeFailure[]
}

/** Puts equal errors of several nodes and clusters together, in the order of the first of each. */
export function groupFailures(failures: readonly NodeFailure[]): FailureGroup[] {
  // the message names the file that is missing, wherever it is wanted
  const keyOf = ({ code, state, message, fix, origin, blocksApply, since }: NodeFailure) =>
    JSON.stringify([code, state, message, fix, code === 'kustomize-missing' ? '' : origin, blocksApply ?? false, since])
  const buildOf = ({ state, node }: NodeFailure) => `${state} ${node}`
  const placeOf = ({ state, origin }: NodeFailure) => `${state} ${placeText(origin)}:${origin.column}`
  const textOf = ({ message, origin }: NodeFailure) => JSON.stringify([message, placeText(origin)])
  const leading = new Set(failures.filter(one => !one.follows).map(buildOf))
  const isBelow = (one: NodeFailure) => one.follows === true && leading.has(buildOf(one))
  const ofFlux = ({ code, origin }: NodeFailure) => code === 'flux-invalid' && origin.file !== ''
  const causes = new Set(failures.filter(one => !isBelow(one) && !ofFlux(one)).map(placeOf))
  // what Flux rejects where another error stands: one edit corrects both
  const leaderOf = (one: NodeFailure) =>
    isBelow(one) ? buildOf(one) : ofFlux(one) && causes.has(placeOf(one)) ? placeOf(one) : ''
  const followers = Map.groupBy(failures, leaderOf)
  const below = (one: NodeFailure) => [buildOf(one), placeOf(one)].flatMap(key => followers.get(key) ?? [])
  return [...Map.groupBy(followers.get('') ?? [], keyOf).values()].map(all => ({
    failure: all[0]!,
    nodes: distinct(all.map(({ node }) => node)).filter(node => node !== ''),
    clusters: distinct(all.map(({ cluster }) => cluster)),
    tenants: distinct(all.map(({ tenant }) => tenant)),
    followers: [...new Map(all.flatMap(below).map(one => [keyOf(one), one])).values()].filter(
      one => textOf(one) !== textOf(all[0]!),
    ),
  }))
}

/** The approvals as shown to people: files that were not checked for the same cause are one, at the first file. */
export function groupApprovals(approvals: readonly RequiredApproval[]): RequiredApproval[] {
  const groups = Map.groupBy(approvals, one => (one.because === undefined ? one : `${one.rule} ${one.because}`))
  return [...groups.values()].map(all => {
    const [first] = all as [RequiredApproval, ...RequiredApproval[]]
    return first.because === undefined ? first : { ...first, message: `${uncheckedText(all.length)}: ${first.because}` }
  })
}

/** How many files of a change were not evaluated. */
export const uncheckedText = (files: number): string =>
  `${files} changed ${files === 1 ? 'file was' : 'files were'} not checked`

/** Files of a change that what is not visible may apply. */
export const unseenFiles = ({ changedFiles = [] }: Pick<Verdict, 'changedFiles'>) =>
  changedFiles.filter(({ state }) => state === 'unseen')

/** What a verdict comes to: only what is new decides, an error before a violation. */
export function resultOf(violations: readonly Finding[], errors: readonly NodeFailure[]): Verdict['result'] {
  if (errors.some(isNew)) return 'error'
  return violations.some(isNew) ? 'fail' : 'pass'
}

export const isNew = ({ state }: { readonly state: Finding['state'] }) => state === 'new'
