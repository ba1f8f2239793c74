import type { AccessOverview } from '../../access/access-overview.ts'
import type { ClusterAudit } from '../../audit/audit-item.ts'
import { countFindings } from '../../evaluate/verdict/group-findings.ts'
import type { EvaluatedNode, Evaluation } from '../../rules/model/finding.ts'
import type { CoveredPolicy } from '../../rules/policies/support/policy-coverage.ts'
import { assumedClusters } from '../assumed-clusters.ts'
import { groupFailures } from '../text/group-failures.ts'
import { isNew } from '../text/headline.ts'
import type { PagePlace } from './check-page-of.ts'
import { fleetFindings, type ListedFinding } from './fleet-findings.ts'
import { fleetGraphOf } from './fleet-graph.ts'
import type { FleetPage, SeenSource } from './fleet-page.ts'

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
/** Limit for each policy. */
const MAX_LISTED = 100

/** The page of a fleet. It names every tenant: it is for readers of the fleet's own repository only. */
export function fleetPageOf(fleet: EvaluatedFleet, place: PagePlace): FleetPage {
  const { repository, branch, commit, evaluation, audit, policies = [], access, trail } = fleet
  const { verdict, nodes } = evaluation
  const sources = sourcesOf(nodes)
  const graph = fleetGraphOf(nodes, verdict)
  const findings = fleetFindings(verdict)
  const assumed = assumedClusters(verdict)
  const lists = {
    tenants: verdict.tenants,
    sources,
    notSeen: verdict.notSeen,
    findings,
    graph,
    audit: audit.flatMap(one => one.items),
    policies,
  }
  const left = Object.entries(MAX).map(([name, most]) => [name, lists[name as keyof typeof MAX].length - most] as const)
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
      violations: countFindings(verdict.violations.filter(isNew)),
      errors: groupFailures(verdict.errors.filter(isNew)).length,
    },
    ...(assumed === undefined ? {} : { assumed }),
    clusters: verdict.clusters.map(({ name, path }) => ({
      name,
      path,
      nodes: nodes.filter(({ cluster }) => cluster === name).length,
    })),
    tenants: verdict.tenants.slice(0, MAX.tenants),
    sources: sources.slice(0, MAX.sources),
    notSeen: verdict.notSeen.slice(0, MAX.notSeen),
    findings: openFirst(findings).slice(0, MAX.findings),
    graph: graph.slice(0, MAX.graph),
    audit: audit.map(one => ({ ...one, items: one.items.slice(0, Math.ceil(MAX.audit / audit.length)) })),
    policies: policies.slice(0, MAX.policies).map(one => ({
      ...one,
      rules: one.rules.slice(0, MAX_LISTED).map(rule => ({ ...rule, why: rule.why.slice(0, 500) })),
      exceptions: one.exceptions.slice(0, MAX_LISTED),
    })),
    access,
    ...(trail ? { trail } : {}),
    commits: Object.fromEntries([...sources.map(({ url, commit }) => [url, commit] as const), [repository, commit]]),
    left: Object.fromEntries(left.filter(([, number]) => number > 0)),
  }
}

/** If there are too many, what is accepted, waived or a warning is left out before an open violation. */
function openFirst(findings: readonly ListedFinding[]): readonly ListedFinding[] {
  if (findings.length <= MAX.findings) return findings
  const isOpen = ({ kind, state }: ListedFinding) => kind !== 'warning' && state === 'open'
  const kept = new Set([...findings.filter(isOpen), ...findings.filter(one => !isOpen(one))].slice(0, MAX.findings))
  return findings.filter(one => kept.has(one))
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
