import type { Judgement } from '../../src/rules/finding.ts'
import type { WorkerContext } from '../worker-context.ts'
import { fleetPlaces } from './fleet-places.ts'
import type { Installation } from './installation.ts'
import { type FleetPlace, judgeCombination } from './judge-combination.ts'
import { type Pin, SourceReader } from './source-reader.ts'

/** A commit that a branch has, gets or would get; `base` is what it would come in place of. */
export interface Change {
  readonly head: Pin
  readonly base?: Pin
}

/** What one fleet says about a change that it reads. */
export interface FleetAnswer {
  readonly place: FleetPlace
  readonly fleetCommit: string
  readonly judgement: Judgement
}

/**
 * Judges a change in every fleet of the installation that reads the branch; empty: nothing of a fleet is touched. Anybody
 * who may write to some repository can give it a `clusters` directory: where the operator bound fleets, another one is
 * judged by itself only. It reads nothing else, and says nothing on the repositories of others.
 */
export async function judgeChange(
  context: WorkerContext,
  installation: Installation,
  change: Change,
): Promise<FleetAnswer[]> {
  const reader = new SourceReader(installation)
  const answers: FleetAnswer[] = []
  const places = await fleetPlaces(installation, context.bindings)
  const isBound = ({ repository, branch }: FleetPlace) =>
    context.bindings.some(binding => binding.fleet === repository.url && binding.branch === branch)
  const believed = places.some(isBound) ? places.filter(isBound) : places
  for (const place of places) {
    const { url } = place.repository
    const alone = !believed.includes(place)
    if (alone && url !== change.head.url) continue
    const { disabledRules, evaluator } = context
    const judged = await judgeCombination(evaluator, alone ? new SourceReader(installation, url) : reader, {
      fleet: place,
      ...change,
      disabledRules,
    })
    if (judged.concerned) answers.push({ place, fleetCommit: judged.fleetCommit, judgement: judged.judgement })
  }
  return answers
}
