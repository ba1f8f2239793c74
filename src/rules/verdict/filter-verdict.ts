import type { JudgedNode, Judgement, Verdict } from '../finding.ts'
import { evaluatedIn } from './evaluated.ts'
import { failureOf } from './finding-of.ts'
import { resultOf } from './result-of.ts'
import { withSummary } from './summary.ts'

/** What a reader asked for; an empty list is all of them. */
export interface VerdictFilter {
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
}

/**
 * The part of a verdict that some clusters and tenants are. An error that may hide something of them stays: one of the
 * platform's nodes on such a cluster, or of no node. Where nothing is left, that is an error, never a pass.
 */
export function filterVerdict({ verdict, nodes }: Judgement, filter: VerdictFilter): Verdict {
  const clusters = new Set(filter.clusters)
  const tenants = new Set(filter.tenants)
  // what a cluster applies to others through their kubeconfigs is its own doing
  const hubs = new Map(nodes.flatMap(({ cluster, hub }) => (hub === undefined ? [] : [[cluster, hub] as const])))
  const onCluster = (name: string) =>
    clusters.size === 0 || name === '' || clusters.has(name) || clusters.has(hubs.get(name) ?? name)
  const ofTenant = (name: string) => tenants.size === 0 || tenants.has(name)
  const kept = nodes.filter(({ cluster, tenant }) => onCluster(cluster) && ofTenant(tenant ?? ''))
  const isKept = (one: { cluster: string; tenant: string }) => onCluster(one.cluster) && ofTenant(one.tenant)
  const violations = verdict.violations.filter(isKept)
  const left = verdict.errors.filter(one => onCluster(one.cluster) && (one.tenant === '' || ofTenant(one.tenant)))
  const errors = kept.length > 0 ? left : [nothingLeft(filter), ...left]
  return withSummary({
    ...verdict,
    filter,
    result: resultOf(violations, errors),
    clusters: verdict.clusters.filter(({ name }) => onCluster(name)),
    tenants: verdict.tenants.filter(one => ofTenant(one.name) && (clusters.size === 0 || one.clusters.some(onCluster))),
    violations,
    warnings: verdict.warnings.filter(isKept),
    notEvaluated: verdict.notEvaluated.filter(isKept),
    errors,
    notSeen: verdict.notSeen.filter(({ source, url }) => {
      const follows = (node: JudgedNode) => node.source.id === source && node.source.url === url
      return kept.some(follows) || !nodes.some(follows)
    }),
    evaluated: evaluatedIn(kept, errors),
  })
}

function nothingLeft({ clusters, tenants }: VerdictFilter) {
  const message = `no Kustomization of ${[...tenants].join(', ')} is on ${[...clusters].join(', ')}, so nothing was evaluated`
  const origin = { repository: '', file: '', line: 0, column: 0 }
  const fix = 'Leave out --cluster or --tenant.'
  return failureOf({ key: '', cluster: '' }, { code: 'nothing-evaluated', message, fix }, origin)
}
