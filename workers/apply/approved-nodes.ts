import { BailiwickError } from '../../src/base/errors.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { type Inventory, type InventoryEntry, idOfEntry } from '../../src/cluster/inventory.ts'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { EvaluatedNode, Evaluation, Verdict } from '../../src/rules/model/finding.ts'
import { type ApprovedNode, approve, type Heads, type Held } from '../../src/verdict/approve.ts'
import { massPrunes, type PruneLimits } from '../../src/verdict/mass-prune.ts'
import { type EvaluatedRevisionSet, evaluateRevisionSet } from '../fleets/evaluate-revision-set.ts'
import type { EvaluateRequest } from '../fleets/protocol.ts'
import { SourceReader } from '../fleets/source-reader.ts'
import type { FleetPlace, SourceInstallation, WorkerContext } from '../fleets/worker-context.ts'
import type { NodeResult } from './apply-node.ts'
import type { Moves } from './moves.ts'

export interface Approved {
  /** Of this cluster only. */
  readonly nodes: readonly EvaluatedNode[]
  readonly evaluation: Evaluation
  readonly apply: readonly ApprovedNode[]
  readonly held: readonly Held[]
  readonly fleetCommit: string
  /** Absent: large prunes wait, and none is approved. */
  readonly prunes?: PrunePolicy
  /** Some nodes wait for values of the cluster, which this run may create. */
  readonly awaitsValues?: boolean
}

/** What is approved, and the input to read the cluster values that some of it depends on (see openApproved). */
export interface ApprovedWithValues extends Approved {
  readonly open: readonly EvaluatedNode[]
  /** What was evaluated. */
  readonly question: EvaluateRequest
  readonly heads: Heads
}

/** After this many, pushes are faster than evaluations: try again later. */
const MAX_ROUNDS = 3

/**
 * Evaluates the bound branch and every source at their present commits, checks that they have not moved, and calls
 * `approve`. Uses no earlier state, so a new process gets the same result. `look` reads GitHub again.
 */
export async function approvedNodes(
  context: Pick<WorkerContext, 'evaluator' | 'disabledRules'>,
  binding: ClusterBinding,
  look: () => SourceInstallation,
  place: FleetPlace,
): Promise<ApprovedWithValues> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { evaluator, disabledRules } = context
    const evaluated = await evaluateRevisionSet(evaluator, new SourceReader(look()), { fleet: place, disabledRules })
    const { nodes, verdict } = evaluated.evaluation
    const { name: cluster, fleet, branch, kubeConfigs = [], kmsKeys = [] } = binding
    const { revisionSet } = verdict
    const heads = await presentHeads(new SourceReader(look()), place, evaluated)
    const bound = { cluster, fleet, branch, kubeConfigs, kmsKeys }
    const known = { revisionSet, nodes, baseline: evaluated.baseline }
    const { apply, held, open } = approve({ binding: bound, evaluated: known, heads })
    assertBound(binding, verdict)
    const here = nodes.filter(node => (node.hub ?? node.cluster) === binding.name)
    if (heads.revisionSet === revisionSet) {
      const { evaluation, fleetCommit, question } = evaluated
      return { nodes: here, evaluation, apply, held, fleetCommit, open, question, heads }
    }
  }
  throw new BailiwickError(
    'github-unavailable',
    `${place.repository.url} and its sources change faster than they can be evaluated`,
  )
}

/** The present commits of the branches; `revisionSet` is the evaluated one only if nothing has moved. */
async function presentHeads(reader: SourceReader, place: FleetPlace, evaluated: EvaluatedRevisionSet) {
  const fleet = { url: place.repository.url, branch: place.branch }
  const commit = await reader.headOf({ url: fleet.url, ref: { branch: fleet.branch } })
  const sources = await Promise.all(evaluated.sources.map(source => present(reader, source)))
  const before = evaluated.sources.map(source => ('commit' in source ? source.commit : ''))
  const same = commit === evaluated.fleetCommit && sources.every((source, index) => source.commit === before[index])
  return {
    revisionSet: same ? evaluated.evaluation.verdict.revisionSet : '',
    complete: true,
    fleet: { ...fleet, commit: commit ?? '' },
    sources: sources.filter(source => source.commit !== ''),
  }
}

async function present(reader: SourceReader, source: WantedSource & { readonly commit?: string }) {
  // an opaque source stays opaque until the next evaluation; one that was read must still be there
  const commit = source.commit === undefined ? '' : ((await reader.headOf(source)) ?? 'gone')
  return { url: source.url, ref: source.ref, commit }
}

type Bound = Pick<ClusterBinding, 'name' | 'path'>

/** Throws `not-permitted` if the cluster starts outside the bound folder, or is only assumed or renamed. */
export function assertBound({ name, path }: Bound, { clusters }: Pick<Verdict, 'clusters'>): void {
  const cluster = clusters.find(one => one.name === name)
  if (!cluster) {
    assertNotRenamed({ name, path }, clusters)
    return
  }
  if (cluster.path === path && cluster.how !== 'assumed') return
  const message = `cluster ${name} starts from ${cluster.path || './'} (${cluster.how}), and clusters.yaml binds ${path || './'}: nothing is applied`
  throw new BailiwickError('not-permitted', message, { fix: 'Bind the folder that the cluster starts from.' })
}

/** A renamed cluster is not removed: nothing of it may be pruned. */
function assertNotRenamed({ name, path }: Bound, clusters: Verdict['clusters']): void {
  const there = clusters.find(one => one.path === path)
  if (!there) return
  const message = `clusters.yaml binds ${path || './'} as ${name}, and the cluster that starts there is ${there.name}: nothing is applied`
  throw new BailiwickError('not-permitted', message, { fix: `Name it ${there.name} in clusters.yaml.` })
}

/** A commit of a repository. */
export interface CommitOf {
  readonly url: string
  readonly commit: string
}

/** A commit that something was applied from, and its nodes. */
interface Group extends CommitOf {
  readonly nodes: AppliedNode[]
}

/** What was applied, by the commit that it came from. */
export function groupByCommit(fleet: CommitOf, approved: Approved, applied: readonly AppliedNode[]): Group[] {
  const groups = new Map<string, Group>()
  for (const node of applied) {
    const at = commitOf(fleet, approved, node.key)
    const key = `${at.url} ${at.commit}`
    const group = groups.get(key) ?? { ...at, nodes: [] }
    group.nodes.push(node)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** The commit that a node is reported on; that of the fleet if the node is removed or its content is not visible. */
export function commitOf(fleet: CommitOf, approved: Approved, key: string): CommitOf {
  const source = gatedSource(approved, key)
  return source?.commit ? { url: source.url, commit: source.commit } : fleet
}

/** The source of a node; if only a tenant's declaration leads to it, the source of that declaration. */
function gatedSource({ nodes }: Approved, key: string): EvaluatedNode['source'] | undefined {
  let node = nodes.find(one => one.key === key)
  while (node?.source.lent) {
    const { parent } = node
    node = nodes.find(one => one.key === parent)
  }
  return node?.source
}

/** The operator's limits and the fleet admins' approvals for large prunes. */
interface PrunePolicy {
  readonly limits: PruneLimits
  /** Approved digests and prints; read only if something would wait. `nodes`: keys of the waiting nodes. */
  approvals(nodes: readonly string[]): Promise<ReadonlySet<string>>
}

interface Prunes {
  /** Of removed nodes. */
  readonly gone: readonly Inventory[]
  /** Of nodes that remain. */
  readonly results: Iterable<NodeResult>
  /** Keys of the nodes that remain. */
  readonly present: ReadonlySet<string>
  readonly moves: Moves
}

/** Why a node's prune waits for an approval, by its key. */
export async function heldPrunes(
  { gone, results, present, moves }: Prunes,
  policy: PrunePolicy | undefined,
): Promise<ReadonlyMap<string, string>> {
  const done = [...results].filter(({ complete }) => complete)
  // what another node has taken over is not deleted: it no longer carries the labels of this one
  const taken = new Set(done.flatMap(({ inventory, stale }) => ownedBy(inventory, stale)))
  const going = (from: Inventory, entries: readonly InventoryEntry[]) =>
    entries
      .filter(entry => !taken.has(entry.id) && moves.takerOf(from, entry) === undefined)
      .map(entry => ({ id: idOfEntry(entry), uid: entry.uid ?? '' }))
  const prunes = [
    ...gone.flatMap(inventory => {
      const { node, entries, prune } = inventory
      const objects = going(inventory, entries)
      // other nodes have taken over all of it
      if (entries.length > 0 && objects.length === 0) return []
      return [{ node, objects: prune ? objects : [], had: entries.length, gone: true }]
    }),
    ...done.flatMap(({ key, inventory, stale }) => {
      const had = inventory.entries.length
      return inventory.prune ? [{ node: key, objects: going(inventory, stale), had, gone: false }] : []
    }),
  ]
  const held = massPrunes(prunes, present, policy?.limits)
  if (held.size === 0 || policy === undefined) return reasons(held)
  return reasons(massPrunes(prunes, present, policy.limits, await policy.approvals([...held.keys()])))
}

/** A node's entries without those that it would delete. An entry with a uid carries its labels. */
function ownedBy({ entries }: Inventory, stale: readonly InventoryEntry[]): string[] {
  const going = new Set(stale.map(({ id }) => id))
  return entries.flatMap(({ id, uid }) => (uid === undefined || going.has(id) ? [] : [id]))
}

function reasons(held: ReturnType<typeof massPrunes>): ReadonlyMap<string, string> {
  return new Map([...held].map(([node, { reason }]) => [node, reason]))
}
