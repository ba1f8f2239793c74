import { display, type ObjectId } from '../../kube/object.ts'
import type { Finding, Severity } from '../../rules/model/finding.ts'

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
  const {
    rule,
    level,
    reported = false,
    severity,
    state,
    origin,
    field,
    cause,
    isShared,
    tenant,
    object,
    message,
  } = finding
  const what = [rule, level, reported, severity, state]
  if (isShared) return JSON.stringify([...what, cause])
  // without a line nothing but the object and the words tell two apart
  if (origin.file === '') return JSON.stringify([...what, tenant, object, field, message])
  const { repository, file, line, column } = origin
  return JSON.stringify([...what, repository, file, line, cause ?? [column, nameOf(field)]])
}

/** The last step of a pointer that is no index. */
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

/** What a rule finds follows from what another one finds at the same line: one edit mends both. */
const AT_THE_SAME_LINE: ReadonlyMap<string, string> = new Map([
  ['namespace-confinement', 'target-namespace'],
  ['admission-config', 'cluster-scoped-forbidden'],
  ['crd-admission', 'cluster-scoped-forbidden'],
])
/** Rules by which a Namespace is not the tenant's; the objects in it follow. */
const OF_NAMESPACES = ['cluster-scoped-forbidden', 'namespace-ownership']

const LEADERS: ReadonlySet<string> = new Set([...AT_THE_SAME_LINE.values(), ...OF_NAMESPACES])

/** Each group below the one that it follows from. */
function followed(groups: readonly FindingGroup[]): FindingGroup[] {
  const leaders = new Map(groups.flatMap(group => leaderKeys(group).map(key => [key, group] as const)))
  if (leaders.size === 0) return [...groups]
  const leaderOf = (group: FindingGroup) =>
    followerKeys(group)
      .map(key => leaders.get(key))
      .find(one => one !== undefined)
  const followers = Map.groupBy(groups, leaderOf)
  return groups
    .filter(group => leaderOf(group) === undefined)
    .map(group => ({ ...group, followers: followers.get(group) ?? [] }))
    .sort(byWeight)
}

/** By what others find the one that they follow from. */
function leaderKeys({ finding, objects }: FindingGroup): string[] {
  const { rule, state, level, origin, tenant, object, cause, isShared } = finding
  if (isShared) return [JSON.stringify([state, level, cause])]
  if (!LEADERS.has(rule)) return []
  const isNamespace = objects.length === 1 && object.kind === 'Namespace' && object.apiVersion === 'v1'
  return [
    JSON.stringify([rule, state, level, origin.repository, origin.file, origin.line]),
    ...(isNamespace && OF_NAMESPACES.includes(rule) ? [JSON.stringify([state, level, tenant, object.name])] : []),
  ]
}

function followerKeys({ finding, tenants }: FindingGroup): string[] {
  const { rule, state, level, origin, tenant, object, follows } = finding
  const leader = AT_THE_SAME_LINE.get(rule)
  const isInside = rule === 'namespace-confinement' && object.namespace !== '' && tenants.length === 1
  return [
    ...(follows === undefined ? [] : [JSON.stringify([state, level, follows])]),
    ...(leader === undefined || origin.file === ''
      ? []
      : [JSON.stringify([leader, state, level, origin.repository, origin.file, origin.line])]),
    ...(isInside ? [JSON.stringify([state, level, tenant, object.namespace])] : []),
  ]
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
