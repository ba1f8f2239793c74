import { fleetPlaces } from '../combination/fleet-places.ts'
import type { FleetPlace } from '../combination/judge-combination.ts'
import type { WorkerContext } from '../worker-context.ts'
import { type FleetAccess, isFleetAdmin } from './is-fleet-admin.ts'

/** The fleets of an installation that speak of other repositories: those that the operator bound, or all where none is. */
export async function believedFleets(
  { bindings }: Pick<WorkerContext, 'bindings'>,
  { installation }: FleetAccess,
): Promise<readonly FleetPlace[]> {
  const places = await fleetPlaces(installation, bindings)
  const bound = places.filter(({ repository, branch }) =>
    bindings.some(binding => binding.fleet === repository.url && binding.branch === branch),
  )
  return bound.length > 0 ? bound : places
}

/** Those of them for which a person decides. */
export async function fleetsOf(
  context: Pick<WorkerContext, 'bindings'>,
  access: FleetAccess,
  login: string,
): Promise<readonly FleetPlace[]> {
  const fleets = await believedFleets(context, access)
  const decides = await Promise.all(fleets.map(fleet => isFleetAdmin(access, fleet, login)))
  return fleets.filter((_, index) => decides[index])
}
