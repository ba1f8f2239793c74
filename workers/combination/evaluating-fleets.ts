import type { Installation } from './installation.ts'
import type { FleetPlace } from './judge-combination.ts'

/** A fleet, and whether it evaluates itself only. */
export interface EvaluatingFleet {
  readonly place: FleetPlace
  readonly alone: boolean
}

/**
 * The fleets that evaluate a change in the repository at `url`: the designated ones, and the repository itself where it has
 * a `clusters` directory and is not designated. That one reads nothing else, because whoever may write to it decides what
 * it names. No other repository is asked.
 */
export async function evaluatingFleets(installation: Installation, url: string): Promise<EvaluatingFleet[]> {
  const { fleets } = await installation.designation()
  const designated = fleets.map(place => ({ place, alone: false }))
  if (fleets.some(({ repository }) => repository.url === url)) return designated
  const own = (await installation.repositories()).find(one => one.url === url)
  if (!own || !(await installation.isFleet(own))) return designated
  return [...designated, { place: { repository: own, branch: own.defaultBranch }, alone: true }]
}
