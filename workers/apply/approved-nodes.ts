import type { Heads } from '../../src/approval/approval-state.ts'
import { type ApprovedNode, approve, type Held } from '../../src/approval/approve.ts'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { WantedSource } from '../../src/fleet/model/source-ref.ts'
import type { EvaluatedNode, Evaluation } from '../../src/rules/model/finding.ts'
import type { SourceInstallation } from '../context/installation.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { type EvaluatedRevisionSet, evaluateRevisionSet } from '../fleets/evaluate-combination.ts'
import { SourceReader } from '../fleets/source-reader.ts'
import type { EvaluateRequest } from '../threads/protocol.ts'
import { assertBound } from './assert-bound.ts'
import type { PrunePolicy } from './held-prunes.ts'

export interface Approved {
  /** Of this cluster only. */
  readonly nodes: readonly EvaluatedNode[]
  readonly evaluation: Evaluation
  readonly apply: readonly ApprovedNode[]
  readonly held: readonly Held[]
  readonly fleetCommit: string
  /** Absent: what is much at once waits, and nothing is approved. */
  readonly prunes?: PrunePolicy
  /** Some of it waits for values of the cluster, which what is applied now may bring. */
  readonly awaitsValues?: boolean
}

/** What is approved, with what it takes to read the values of the cluster that some of it depends on (see openApproved). */
export interface ApprovedWithValues extends Approved {
  readonly open: readonly EvaluatedNode[]
  /** What was evaluated. */
  readonly question: EvaluateRequest
  readonly heads: Heads
}

/** Somebody pushes faster than we evaluate: come back later. */
const MAX_ROUNDS = 3

/**
 * Evaluates what the bound branch and every source hold now, looks once more whether they still do, and asks `approve`.
 * Nothing is remembered from before: a process that starts with nothing comes to the same answer. `look` asks GitHub anew.
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
    const { combination } = verdict
    const heads = await presentHeads(new SourceReader(look()), place, evaluated)
    const bound = { cluster, fleet, branch, kubeConfigs, kmsKeys }
    const known = { combination, nodes, baseline: evaluated.baseline }
    const { apply, held, open } = approve({ binding: bound, evaluated: known, heads })
    assertBound(binding, verdict)
    const here = nodes.filter(node => (node.hub ?? node.cluster) === binding.name)
    if (heads.combination === combination) {
      const { evaluation, fleetCommit, question } = evaluated
      return { nodes: here, evaluation, apply, held, fleetCommit, open, question, heads }
    }
  }
  throw new BailiwickError(
    'github-unavailable',
    `${place.repository.url} and its sources change faster than they can be evaluated`,
  )
}

/** What the branches hold now; `combination` is the evaluated one only where nothing has moved. */
async function presentHeads(reader: SourceReader, place: FleetPlace, evaluated: EvaluatedRevisionSet) {
  const fleet = { url: place.repository.url, branch: place.branch }
  const commit = await reader.headOf({ url: fleet.url, ref: { branch: fleet.branch } })
  const sources = await Promise.all(evaluated.sources.map(source => present(reader, source)))
  const before = evaluated.sources.map(source => ('commit' in source ? source.commit : ''))
  const same = commit === evaluated.fleetCommit && sources.every((source, index) => source.commit === before[index])
  return {
    combination: same ? evaluated.evaluation.verdict.combination : '',
    complete: true,
    fleet: { ...fleet, commit: commit ?? '' },
    sources: sources.filter(source => source.commit !== ''),
  }
}

async function present(reader: SourceReader, source: WantedSource & { readonly commit?: string }) {
  // what was opaque stays unseen until the next evaluation; what was seen must be there still
  const commit = source.commit === undefined ? '' : ((await reader.headOf(source)) ?? 'gone')
  return { url: source.url, ref: source.ref, commit }
}
