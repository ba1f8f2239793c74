import type { FleetPlace } from '../context/readable-repository.ts'
import { type FleetAccess, isFleetAdmin } from './is-fleet-admin.ts'

/** The designated fleets of an installation for which a person decides. */
export async function fleetsOf(access: FleetAccess, login: string): Promise<readonly FleetPlace[]> {
  const { fleets } = await access.installation.designation()
  const decides = await Promise.all(fleets.map(fleet => isFleetAdmin(access, fleet, login)))
  return fleets.filter((_, index) => decides[index])
}
