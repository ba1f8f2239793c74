import { membersOf } from '../../fleet/tenancy/delegated.ts'
import type { EvaluatedNode, Evaluation, Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
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
 * The part of a verdict that some clusters and tenants are; the new findings outside of it are counted. An error that may
 * hide something of them stays: of the platform on such a cluster or on the hub of one, of a node above one of theirs, or
 * of no node. A cluster or tenant of which nothing is left or visible is an error, never a pass.
 */
export function filterVerdict({ verdict, nodes }: Evaluation, filter: VerdictFilter): Verdict {
  const clusters = new Set(filter.clusters)
  const tenants = new Set(filter.tenants)
  // what a cluster applies to others through their kubeconfigs is its own doing
  const hubs = new Map(nodes.flatMap(({ cluster, hub }) => (hub === undefined ? [] : [[cluster, hub] as const])))
  const onCluster = (name: string) =>
    clusters.size === 0 || name === '' || clusters.has(name) || clusters.has(hubs.get(name) ?? name)
  const ofTenant = (name: string) => tenants.size === 0 || membersOf(name).some(one => tenants.has(one))
  const isIn = (one: { cluster: string; tenant: string | null }) => onCluster(one.cluster) && ofTenant(one.tenant ?? '')
  const kept = nodes.filter(isIn)
  const above = keysAbove(kept, nodes)
  const feeding = new Set(filter.clusters.flatMap(name => hubs.get(name) ?? []))
  const mayHide = ({ cluster, tenant, node }: NodeFailure) =>
    above.has(node) || ((onCluster(cluster) || feeding.has(cluster)) && (tenant === '' || ofTenant(tenant)))
  const [violations, otherViolations] = split(verdict.violations, isIn)
  const [left, otherErrors] = split(verdict.errors, mayHide)
  const unseen = violations.length > 0 ? [] : nothingVisible(kept, filter)
  const errors = [...nothingLeft(kept, filter, onCluster), ...unseen, ...left]
  return withSummary({
    ...verdict,
    filter: { ...filter, outside: { violations: countNew(otherViolations), errors: countNew(otherErrors) } },
    result: resultOf(violations, errors),
    clusters: verdict.clusters.filter(({ name }) => onCluster(name)),
    tenants: verdict.tenants.filter(one => ofTenant(one.name) && (clusters.size === 0 || one.clusters.some(onCluster))),
    violations,
    warnings: verdict.warnings.filter(isIn),
    notEvaluated: verdict.notEvaluated.filter(isIn),
    errors,
    notSeen: verdict.notSeen.filter(({ source, url }) => {
      const follows = (node: EvaluatedNode) => node.source.id === source && node.source.url === url
      return kept.some(follows) || !nodes.some(follows)
    }),
    evaluated: evaluatedIn(kept, errors),
  })
}

/** The nodes that render what leads to these. */
function keysAbove(kept: readonly EvaluatedNode[], nodes: readonly EvaluatedNode[]): ReadonlySet<string> {
  const parents = new Map(nodes.map(({ key, parent }) => [key, parent]))
  const above = new Set<string>()
  for (const { key } of kept) {
    for (let one = parents.get(key); one && !above.has(one); one = parents.get(one)) above.add(one)
  }
  return above
}

/** Names of which there is not a Kustomization: nothing of them was evaluated. */
function nothingLeft(
  kept: readonly EvaluatedNode[],
  { clusters, tenants }: VerdictFilter,
  onCluster: (name: string) => boolean,
): NodeFailure[] {
  const isOn = (name: string) => kept.some(({ cluster, hub }) => cluster === name || hub === name)
  const isOf = (name: string) => kept.some(({ tenant, cluster }) => tenant === name && onCluster(cluster))
  const on = clusters.length > 0 ? ` on ${clusters.join(', ')}` : ''
  const of = tenants.length > 0 ? ` of ${tenants.join(', ')}` : ''
  const missing = [
    ...tenants.filter(name => !isOf(name)).map(name => ({ text: ` of ${name}${on}`, option: '--tenant' })),
    ...clusters.filter(name => !isOn(name)).map(name => ({ text: `${of} on ${name}`, option: '--cluster' })),
  ]
  return missing.map(({ text, option }) =>
    nothingEvaluated(`no Kustomization${text} was found, so nothing was evaluated`, `Remove it from ${option}.`),
  )
}

/** Tenants with Kustomizations whose sources are all not visible. Without a finding about these, nothing of them was evaluated but accounts. */
function nothingVisible(kept: readonly EvaluatedNode[], { tenants, clusters }: VerdictFilter): NodeFailure[] {
  return tenants.flatMap(name => {
    const own = kept.filter(({ tenant }) => tenant === name)
    if (own.length === 0 || own.some(isVisible)) return []
    const urls = [...new Set(own.map(({ source }) => source.url))].slice(0, MAX_URLS)
    const on = clusters.length > 0 ? ` on ${clusters.join(', ')}` : ''
    const message = `no source of ${name}${on} is visible, so nothing of it was evaluated`
    return [nothingEvaluated(message, `Add ${urls.map(url => `--repo ${url}=DIR`).join(', ')}, or --repos-dir DIR.`)]
  })
}

function nothingEvaluated(message: string, fix: string): NodeFailure {
  const origin = { repository: '', file: '', line: 0, column: 0 }
  return failureOf({ key: '', cluster: '' }, { code: 'nothing-evaluated', message, fix }, origin)
}

const MAX_URLS = 3
const isVisible = ({ source }: EvaluatedNode) => (source.opaque ?? null) === null

function split<T>(list: readonly T[], isIn: (one: T) => boolean): [T[], T[]] {
  return [list.filter(isIn), list.filter(one => !isIn(one))]
}

const countNew = (list: readonly (Finding | NodeFailure)[]) => list.filter(({ state }) => state === 'new').length
