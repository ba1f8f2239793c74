import { hash } from 'node:crypto'
import { oncePer } from '../base/once-per.ts'
import { type Fleet, type FleetNode, nodesByKey } from '../fleet/model/fleet.ts'
import { mayLeadTo } from '../fleet/model/source-access.ts'
import { membersOf } from '../fleet/tenancy/delegated.ts'
import { idOf } from '../kube/object.ts'
import type { ChangedFile, EvaluatedNode, Evaluation, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { evaluatedIn, sumEvaluated } from './evaluated.ts'
import { failureOf } from './findings.ts'
import { withSummary } from './headline.ts'
import { resultOf } from './summary.ts'

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

/** Names without a Kustomization: nothing of them was evaluated. */
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

/**
 * The part of a verdict that concerns one repository: findings in the nodes that read it or may lead there unseen, and in
 * those that they lead to, and whatever else is new there because of a change of it in a pull request. The others' own faults do not turn it red.
 */
export function scopeVerdict(evaluation: Evaluation, url: string, options: { readonly keepNew: boolean }): Verdict {
  const { verdict } = evaluation
  const own = nodesOf(evaluation.nodes, url)
  const concerns = (item: { node: string; state: string }) =>
    own.has(item.node) || item.node === '' || (options.keepNew && item.state === 'new')
  const violations = verdict.violations.filter(concerns)
  const errors = verdict.errors.filter(concerns)
  return withSummary({
    ...verdict,
    result: resultOf(violations, errors),
    violations,
    warnings: verdict.warnings.filter(concerns),
    notEvaluated: verdict.notEvaluated.filter(concerns),
    errors,
    ...belowErrors(evaluation, own),
    evaluated: evaluatedIn(
      evaluation.nodes.filter(({ key }) => own.has(key)),
      errors,
    ),
  })
}

/** How many of these nodes hang below one of which Flux applies nothing: the error is not theirs, what follows of it is. */
function belowErrors({ nodes, verdict }: Evaluation, own: ReadonlySet<string>): { belowErrors?: number } {
  const failing = new Set(verdict.errors.filter(({ blocksApply }) => blocksApply).map(({ node }) => node))
  const below = new Set<string>()
  for (const { key, parent } of nodes) {
    if (parent !== null && (failing.has(parent) || below.has(parent))) below.add(key)
  }
  const count = [...own].filter(key => below.has(key)).length
  return count === 0 ? {} : { belowErrors: count }
}

function nodesOf(nodes: readonly EvaluatedNode[], url: string): ReadonlySet<string> {
  const own = new Set<string>()
  // parents come first, so one pass reaches every descendant
  for (const node of nodes) {
    if (mayLeadTo(node.hides, url) || readsFrom(node, url) || (node.parent !== null && own.has(node.parent)))
      own.add(node.key)
  }
  return own
}

const RANK = { pass: 0, fail: 1, error: 2 } as const

/** One verdict out of those of several fleets that read the same repository: the worst result, everything listed. Needs at least one. */
export function mergeVerdicts(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const [first, ...others] = verdicts
  if (others.length === 0) return first
  const worst = verdicts.reduce((a, b) => (RANK[b.result] > RANK[a.result] ? b : a))
  return withSummary({
    result: worst.result,
    clusters: verdicts.flatMap(verdict => verdict.clusters),
    tenants: mergeTenants(verdicts.flatMap(verdict => verdict.tenants)),
    violations: verdicts.flatMap(verdict => verdict.violations),
    warnings: verdicts.flatMap(verdict => verdict.warnings),
    errors: verdicts.flatMap(verdict => verdict.errors),
    notSeen: verdicts.flatMap(verdict => verdict.notSeen),
    notReached: verdicts.flatMap(verdict => verdict.notReached),
    notEvaluated: verdicts.flatMap(verdict => verdict.notEvaluated),
    requiredApprovals: verdicts.flatMap(verdict => verdict.requiredApprovals),
    ...(verdicts.some(({ changedFiles }) => changedFiles) ? { changedFiles: mergeFiles(verdicts) } : {}),
    ...(first.changedIn === undefined ? {} : { changedIn: first.changedIn }),
    evaluated: sumEvaluated(verdicts.map(verdict => verdict.evaluated)),
    revisionSet: hash('sha256', verdicts.map(verdict => verdict.revisionSet).join(' ')),
  })
}

const WEIGHT = { unread: 0, rendered: 1, unseen: 2 } as const

/** What one fleet renders another one may apply unseen: each file once, with the classification that saw least. */
function mergeFiles(verdicts: readonly Verdict[]): ChangedFile[] {
  const byPath = Map.groupBy(
    verdicts.flatMap(({ changedFiles = [] }) => changedFiles),
    ({ path }) => path,
  )
  return [...byPath.values()].map(all => all.reduce((a, b) => (WEIGHT[b.state] > WEIGHT[a.state] ? b : a)))
}

/** Each name once, so that a reader cannot tell the fleets apart by it. */
function mergeTenants(tenants: Verdict['tenants']): Verdict['tenants'] {
  const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort()
  return [...Map.groupBy(tenants, tenant => tenant.name)]
    .map(([name, all]) => ({
      name,
      clusters: union(all.map(one => one.clusters)),
      namespaces: union(all.map(one => one.namespaces)),
      identities: union(all.map(one => one.identities)),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Whether a node deploys content of the repository at `url` in a way that counts there: its source's own, what that includes,
 * or a chart of its releases, but nothing that only a tenant's declaration leads to: that gates only its own repository.
 */
export function readsFrom(node: Pick<EvaluatedNode, 'source' | 'charts'>, url: string): boolean {
  return partsOf(node).some(one => one.url === url && !one.lent)
}

/** The repositories that a node deploys content of. */
export function addressesOf(node: Pick<EvaluatedNode, 'source' | 'charts'>): string[] {
  return partsOf(node).map(one => one.url)
}

const partsOf = ({ source, charts = [] }: Pick<EvaluatedNode, 'source' | 'charts'>) => [
  source,
  ...(source.includes ?? []),
  ...charts,
]

/**
 * An evaluation that is never applied, with the objects by name only: crossing to another thread costs their length. Of a
 * change in a tenant's repository at `changed` the objects of its tenants stay: by them, and by the names of others, a report
 * knows which words it must leave out.
 */
export function leanEvaluation(evaluation: Evaluation, head: Fleet, changed: string | undefined): Evaluation {
  const own = evaluation.nodes.filter(node => changed !== undefined && readsFrom(node, changed))
  const owners = new Set(own.map(node => node.tenant))
  const rendered = nodesByKey(head.nodes)
  const nodes = evaluation.nodes.map((node): EvaluatedNode => {
    if (owners.has(node.tenant)) return node
    const { places: _places, ...rest } = node
    return { ...rest, objects: namesOf(rendered.get(node.key)!.objects) }
  })
  return { ...evaluation, nodes }
}

/** Each object as its kind and name only. */
const namesOf = oncePer((objects: FleetNode['objects']): readonly string[] =>
  objects.map(object => {
    const { kind, name, namespace } = idOf(object)
    return JSON.stringify({ kind, metadata: { name, namespace } })
  }),
)
