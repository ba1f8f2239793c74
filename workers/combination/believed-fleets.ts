import type { WorkerContext } from '../worker-context.ts'
import { fleetPlaces } from './fleet-places.ts'
import type { Installation } from './installation.ts'
import type { FleetPlace } from './judge-combination.ts'

/** A fleet, and whether it may read itself only. */
export interface BelievedFleet {
  readonly place: FleetPlace
  readonly alone: boolean
}

/**
 * The fleets of an installation. Anybody who may write to some repository can give it a `clusters` directory: where the
 * operator bound fleets, another one is judged by itself only, reads nothing else, and says nothing on the repositories
 * of others.
 */
export async function believedFleets(
  { bindings }: Pick<WorkerContext, 'bindings'>,
  installation: Installation,
): Promise<BelievedFleet[]> {
  const places = await fleetPlaces(installation, bindings)
  const isBound = ({ repository, branch }: FleetPlace) =>
    bindings.some(binding => binding.fleet === repository.url && binding.branch === branch)
  const anyBound = places.some(isBound)
  return places.map(place => ({ place, alone: anyBound && !isBound(place) }))
}
