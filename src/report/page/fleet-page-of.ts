import type { AccessOverview } from '../../access/access-overview.ts'
import type { AuditItem, ClusterAudit } from '../../audit/audit-item.ts'
import { countFindings } from '../../evaluate/verdict/group-findings.ts'
import type { EvaluatedNode, Evaluation } from '../../rules/model/finding.ts'
import type { CoveredPolicy } from '../../rules/policies/support/policy-coverage.ts'
import { assumedClusters } from '../assumed-clusters.ts'
import { groupFailures } from '../text/group-failures.ts'
import { isNew } from '../text/headline.ts'
import type { PagePlace } from './check-page-of.ts'
import { fleetFindings, type ListedFinding } from './fleet-findings.ts'
import { fleetGraphOf } from './fleet-graph.ts'
import type { FleetPage, SeenSource, StoredPolicy } from './fleet-page.ts'

/** A fleet as it was evaluated on the branch that its clusters follow. */
interface EvaluatedFleet {
  readonly repository: string
  readonly branch: string
  readonly commit: string
  readonly evaluation: Evaluation
  readonly audit: readonly ClusterAudit[]
  readonly policies?: readonly CoveredPolicy[]
  readonly access: AccessOverview
  readonly trail?: FleetPage['trail']
}

const MAX = {
  ...{ tenants: 3_000, sources: 3_000, notSeen: 1_000, graph: 3_000, findings: 3_000 },
  ...{ audit: 2_000, policies: 1_000 },
}
/** Rules, and exceptions, of each policy. */
const MAX_LISTED = 100
/** Longer reasons are cut. */
const MAX_WHY = 500
/** Characters of the rows of one list: names are as long as whoever chose them wants. */
const MAX_TEXT = 4 * 1024 * 1024

/** The page of a fleet, in steps of a few milliseconds. It names every tenant: it is for readers of the fleet's own repository only. */
export function* fleetPageOf(fleet: EvaluatedFleet, place: PagePlace): Generator<void, FleetPage> {
  const { repository, branch, commit, evaluation, audit, access, trail } = fleet
  const { verdict, nodes } = evaluation
  const assumed = assumedClusters(verdict)
  const { kept, left } = yield* listsOf(fleet)
  const namespaces = yield* fitting(access.namespaces, access.namespaces.length)
  yield
  const violations = countFindings(verdict.violations.filter(isNew))
  yield
  return {
    kind: 'fleet',
    ...place,
    repository,
    branch,
    commit,
    result: verdict.result,
    counts: {
      nodes: nodes.length,
      objects: nodes.reduce((sum, node) => sum + node.objects.length, 0),
      violations,
      errors: groupFailures(verdict.errors.filter(isNew)).length,
    },
    ...(assumed === undefined ? {} : { assumed }),
    clusters: verdict.clusters.map(({ name, path }) => ({
      name,
      path,
      nodes: nodes.filter(({ cluster }) => cluster === name).length,
    })),
    ...kept,
    audit: audit.map(one => ({ ...one, items: one.items.filter(item => kept.audit.has(item)) })),
    access: { namespaces, left: access.left + access.namespaces.length - namespaces.length },
    ...(trail ? { trail } : {}),
    commits: Object.fromEntries([
      ...kept.sources.map(({ url, commit }) => [url, commit] as const),
      [repository, commit],
    ]),
    left,
  }
}

/** The lists of the page as far as it holds them, and how many rows of each it does not hold. */
function* listsOf({ evaluation, audit, policies = [] }: EvaluatedFleet) {
  const { verdict, nodes } = evaluation
  const lists = {
    tenants: verdict.tenants,
    sources: sourcesOf(nodes),
    notSeen: verdict.notSeen,
    findings: yield* fleetFindings(verdict),
    graph: yield* fleetGraphOf(nodes, verdict),
    audit: weakFirst(audit.flatMap(one => one.items)),
    policies,
  }
  const findings = new Set(yield* fitting(openFirst(lists.findings), MAX.findings))
  const kept = {
    tenants: yield* fitting(lists.tenants, MAX.tenants),
    sources: yield* fitting(lists.sources, MAX.sources),
    notSeen: yield* fitting(lists.notSeen, MAX.notSeen),
    findings: lists.findings.filter(one => findings.has(one)),
    graph: yield* fitting(lists.graph, MAX.graph),
    audit: new Set(yield* fitting(lists.audit, MAX.audit)),
    policies: yield* fitting(lists.policies.map(shortPolicy), MAX.policies),
  }
  const sizeOf = (list: readonly unknown[] | ReadonlySet<unknown>) => ('size' in list ? list.size : list.length)
  const left = Object.keys(MAX).map(name => {
    const key = name as keyof typeof MAX
    return [name, lists[key].length - sizeOf(kept[key])] as const
  })
  return { kept, left: Object.fromEntries(left.filter(([, number]) => number > 0)) }
}

/** The first rows of a list that are few and short enough for the page; some rows in each step. */
function* fitting<T>(rows: readonly T[], most: number): Generator<void, readonly T[]> {
  let size = 0
  for (const [at, row] of rows.slice(0, most).entries()) {
    size += JSON.stringify(row).length
    if (size > MAX_TEXT) return rows.slice(0, at)
    if (at % 50 === 49) yield
  }
  return rows.slice(0, most)
}

function shortPolicy(policy: CoveredPolicy): StoredPolicy {
  const { rules, exceptions } = policy
  const [moreRules, moreExceptions] = [rules.length - MAX_LISTED, exceptions.length - MAX_LISTED]
  return {
    ...policy,
    rules: rules.slice(0, MAX_LISTED).map(rule => ({ ...rule, why: short(rule.why) })),
    exceptions: exceptions.slice(0, MAX_LISTED),
    ...(moreRules > 0 ? { moreRules } : {}),
    ...(moreExceptions > 0 ? { moreExceptions } : {}),
  }
}

const short = (text: string) => (text.length > MAX_WHY ? `${text.slice(0, MAX_WHY)}…` : text)

/** If there are too many, what passes is left out before what is weak. */
function weakFirst(items: readonly AuditItem[]): readonly AuditItem[] {
  const isOk = ({ state }: AuditItem) => state === 'ok'
  return [...items.filter(item => !isOk(item)), ...items.filter(isOk)]
}

/** If there are too many, what is accepted, waived or a warning is left out before an open violation. */
function openFirst(findings: readonly ListedFinding[]): readonly ListedFinding[] {
  const isOpen = ({ kind, state }: ListedFinding) => kind !== 'warning' && state === 'open'
  return [...findings.filter(isOpen), ...findings.filter(one => !isOpen(one))]
}

function sourcesOf(nodes: readonly EvaluatedNode[]): SeenSource[] {
  const seen = nodes.filter(({ source, narrower }) => source.opaque === null && source.url !== '' && !narrower)
  const groups = Map.groupBy(seen, ({ source }) => JSON.stringify([source.url, source.commit]))
  return [...groups.values()]
    .map(group => ({ ...pick(group), used: group.length }))
    .sort((a, b) => b.used - a.used || (a.url < b.url ? -1 : 1))
}

function pick(group: readonly EvaluatedNode[]): Pick<SeenSource, 'id' | 'url' | 'commit'> {
  const { id = '', url = '', commit = '' } = group[0]?.source ?? {}
  return { id, url, commit }
}
