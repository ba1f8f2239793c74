import type { SourceLine } from '../../base/origin.ts'
import type { NotSeen, Tenant } from '../../fleet/model/fleet.ts'
import { display } from '../../kube/object.ts'
import type { EvaluatedNode, Finding, GrantedWaiver, Verdict } from '../../rules/model/finding.ts'
import type { CoveredPolicy } from '../../rules/policies/policy-coverage.ts'
import type { AccessOverview } from '../../verdict/audit/access-overview.ts'
import type { ClusterAudit } from '../../verdict/audit/audit-item.ts'
import { countFindings, groupFailures, groupFindings } from '../../verdict/summary.ts'
import type { PagePlace } from '../outcome.ts'
import { type GraphNode, graphOf } from './check-page.ts'

/** A source that was read. */
export interface SeenSource {
  readonly id: string
  readonly url: string
  readonly commit: string
  /** How many Kustomizations deploy from it. */
  readonly used: number
}

/** A policy as the page holds it. */
export interface StoredPolicy extends CoveredPolicy {
  /** Rules, and exceptions, beyond the listed ones; absent: none. */
  readonly moreRules?: number
  readonly moreExceptions?: number
}

/**
 * What the page of a fleet shows, as it stands on the branch that clusters follow: plain JSON of bounded size. It is the
 * platform's view, for readers of the fleet's own repository.
 */
export interface FleetPage extends PagePlace {
  readonly kind: 'fleet'
  readonly repository: string
  readonly branch: string
  readonly commit: string
  readonly result: 'pass' | 'fail' | 'error'
  readonly counts: {
    readonly nodes: number
    readonly objects: number
    readonly violations: number
    readonly errors: number
  }
  readonly clusters: readonly { readonly name: string; readonly path: string; readonly nodes: number }[]
  /** The clusters whose Flux start is not declared in git, in one line. */
  readonly assumed?: string
  readonly tenants: readonly Tenant[]
  readonly sources: readonly SeenSource[]
  readonly notSeen: readonly NotSeen[]
  /** By tenant, those with the most open violations first. Absent on a page from an older version. */
  readonly findings?: readonly ListedFinding[]
  readonly graph: readonly FleetGraphNode[]
  readonly audit: readonly ClusterAudit[]
  /** Absent on a page from an older version. */
  readonly policies?: readonly StoredPolicy[]
  readonly access: AccessOverview
  /** Whether decisions are recorded. Absent on a page from an older version. */
  readonly trail?: 'on' | 'off'
  readonly commits: Readonly<Record<string, string>>
  readonly left: Readonly<Record<string, number>>
}

/** A finding of one tenant on the branch that the clusters follow: one for each cause. Plain JSON of bounded size. */
export interface ListedFinding {
  readonly kind: 'violation' | 'warning' | 'error'
  /** `open`: neither accepted by the baseline nor waived. */
  readonly state: 'open' | 'accepted' | 'waived'
  /** Id of a rule, or the code of an error. */
  readonly rule: string
  readonly severity: Finding['severity']
  /** '' for the platform. */
  readonly tenant: string
  readonly clusters: readonly string[]
  /** Clusters beyond the listed ones; absent: none. */
  readonly moreClusters?: number
  /** The first object, or the first Kustomization of an error; '' for what is about none. */
  readonly object: string
  /** How many objects the cause reaches. */
  readonly objects: number
  readonly message: string
  readonly origin: SourceLine
  readonly waiver?: GrantedWaiver
}

/** Longer messages are cut: the check of the commit has them whole. */
const MAX_TEXT = 500
/** Clusters that are stored with a finding, and can be filtered by. */
const MAX_CLUSTERS = 200

/**
 * Findings of a branch by tenant: those with the most open violations first, the platform like a tenant; of each the open
 * ones first, then by severity. The findings of one tenant in each step.
 */
export function* fleetFindings({ violations, warnings, errors }: Verdict): Generator<void, ListedFinding[]> {
  const present = [...violations, ...warnings].filter(({ state }) => state !== 'fixed')
  const found: ListedFinding[] = []
  for (const own of Map.groupBy(present, ({ tenant }) => tenant).values()) {
    yield
    found.push(...groupFindings(own).map(listed))
  }
  const failed = [...Map.groupBy(errors, ({ tenant }) => tenant)].flatMap(([tenant, own]) =>
    groupFailures(own).map(({ failure, nodes, clusters }) => ({
      kind: 'error' as const,
      state: failure.state === 'new' ? ('open' as const) : ('accepted' as const),
      ...{ rule: failure.code, severity: 'high' as const, tenant, ...listedClusters(clusters) },
      ...{ object: nodes[0] ?? '', objects: nodes.length, message: short(failure.message) },
      origin: placeOf(failure.origin),
    })),
  )
  const byTenant = [...Map.groupBy([...failed, ...found], ({ tenant }) => tenant).values()]
  byTenant.sort((a, b) => weightOf(b) - weightOf(a) || (a[0]!.tenant < b[0]!.tenant ? -1 : 1))
  return byTenant.flatMap(own => [...own].sort((a, b) => orderOf(a) - orderOf(b)))
}

function listed({ finding, objects, clusters, followers }: ReturnType<typeof groupFindings>[number]): ListedFinding {
  const { rule, level, state, severity, tenant, message, origin, waiver } = finding
  const followed = followers.reduce((sum, one) => sum + one.objects.length, 0)
  return {
    kind: level,
    state: state === 'new' ? 'open' : state === 'waived' ? 'waived' : 'accepted',
    ...{ rule, severity, tenant, ...listedClusters(clusters), object: display(finding.object) },
    ...{ objects: objects.length + followed, message: short(message), origin: placeOf(origin) },
    ...(waiver ? { waiver: { ...waiver, reason: short(waiver.reason) } } : {}),
  }
}

const short = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

function listedClusters(names: readonly string[]): Pick<ListedFinding, 'clusters' | 'moreClusters'> {
  const moreClusters = names.length - MAX_CLUSTERS
  return { clusters: names.slice(0, MAX_CLUSTERS), ...(moreClusters > 0 ? { moreClusters } : {}) }
}

const placeOf = ({ repository, file, line, column }: Finding['origin']) => ({ repository, file, line, column })

/** What is open comes before any number of what is accepted or waived, and a warning weighs nothing. */
const weightOf = (own: readonly ListedFinding[]) =>
  own.reduce((sum, { kind, state }) => sum + (kind === 'warning' ? 0 : state === 'open' ? 100_000 : 1), 0)

const KINDS = ['error', 'violation', 'warning'] as const
const ORDER = ['open', 'accepted', 'waived'] as const

/** Within one kind and state the order of the groups stays: by severity. */
const orderOf = (one: ListedFinding) => {
  const isWarning = one.kind === 'warning' ? 10 : 0
  return isWarning + ORDER.indexOf(one.state) * 3 + KINDS.indexOf(one.kind)
}

/** A Kustomization as the platform sees it: what it leads to, and what is wrong with it. The rest is absent on pages of older versions. */
export interface FleetGraphNode extends GraphNode {
  /** Namespaces of its objects, sorted; '' for objects without a namespace. */
  readonly namespaces?: readonly string[]
  /** How many more namespaces there are. */
  readonly moreNamespaces?: number
  /** Where its Kustomization is written. */
  readonly declared?: SourceLine
  /** Its open violations, by cause. */
  readonly open?: number
  /** Its open evaluation errors, by cause. */
  readonly failed?: number
}

/** Namespaces that are kept of one Kustomization. */
const MAX_NAMESPACES = 20

/** The Kustomizations of a fleet, parents first, with the namespaces of their objects: one in each step. */
export function* fleetGraphOf(nodes: readonly EvaluatedNode[], verdict: Verdict): Generator<void, FleetGraphNode[]> {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const isOpen = ({ state }: { readonly state: string }) => state === 'new'
  const open = Map.groupBy(verdict.violations.filter(isOpen), ({ node }) => node)
  const failed = Map.groupBy(verdict.errors.filter(isOpen), ({ node }) => node)
  const graph: FleetGraphNode[] = []
  for (const node of graphOf(nodes, undefined)) {
    yield
    const { objects = [], declared } = byKey.get(node.key) ?? {}
    const namespaces = namespacesOf(objects)
    graph.push({
      ...node,
      namespaces: namespaces.slice(0, MAX_NAMESPACES),
      moreNamespaces: Math.max(0, namespaces.length - MAX_NAMESPACES),
      ...(declared ? { declared } : {}),
      open: countFindings(open.get(node.key) ?? []),
      failed: groupFailures(failed.get(node.key) ?? []).length,
    })
  }
  return graph
}

function namespacesOf(objects: readonly string[]): string[] {
  const found = objects.map(text => {
    const { metadata }: { metadata?: { namespace?: unknown } | null } = JSON.parse(text)
    return typeof metadata?.namespace === 'string' ? metadata.namespace : ''
  })
  return [...new Set(found)].sort()
}
