import { type ChangePrunes, changePrunes, combinedPrunes } from '../../src/approval/change-prunes.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'

/**
 * What the workers of the bound clusters would hold back after a change, for the readers of the repository at `url`:
 * Kustomizations of sources that fewer people can see, and of other tenants, are only counted.
 */
export function prunesOf(
  { bindings, config }: Pick<WorkerContext, 'bindings' | 'config'>,
  answers: readonly FleetAnswer[],
  url: string,
): ChangePrunes | undefined {
  const limits = { share: config.pruneShare, atLeast: config.pruneAtLeast }
  const isFleet = answers.some(({ place }) => place.repository.url === url)
  const found = answers.flatMap(({ place, prunes = [], evaluation, narrower }) => {
    const bound = new Set(
      bindings.flatMap(({ name, fleet, branch, mode }) =>
        mode === 'reconcile' && fleet === place.repository.url && branch === place.branch ? [name] : [],
      ),
    )
    const planned = prunes.filter(({ cluster }) => bound.has(cluster))
    const isShown = (source: string) => (isFleet ? !narrower.includes(source) : source === url)
    const present = evaluation.nodes.map(({ key }) => key)
    return changePrunes(planned, present, limits, isShown) ?? []
  })
  return combinedPrunes(found)
}
