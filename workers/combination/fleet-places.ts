import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { Installation, ReadableRepository } from './installation.ts'
import type { FleetPlace } from './judge-combination.ts'

/** What the operator bound: a fleet, by its normalised address, on a branch. */
type BoundFleet = Pick<ClusterBinding, 'fleet' | 'branch'>

/**
 * The fleets that an installation can read: repositories with a `clusters` directory on their default branch, and the
 * branches that the operator's clusters.yaml binds. Any repository may be judged; only a bound one is applied.
 */
export async function fleetPlaces(installation: Installation, bound: readonly BoundFleet[]): Promise<FleetPlace[]> {
  const repositories = await installation.repositories()
  const isFleet = await Promise.all(repositories.map(repository => installation.isFleet(repository)))
  const derived = repositories
    .filter((_, index) => isFleet[index])
    .map(repository => ({ repository, branch: repository.defaultBranch }))
  return unique([...derived, ...boundPlaces(repositories, bound)])
}

function boundPlaces(repositories: readonly ReadableRepository[], bound: readonly BoundFleet[]): FleetPlace[] {
  return bound.flatMap(({ fleet, branch }) => {
    const repository = repositories.find(one => one.url === fleet)
    return repository ? [{ repository, branch }] : []
  })
}

function unique(places: readonly FleetPlace[]): FleetPlace[] {
  const byKey = new Map(places.map(place => [JSON.stringify([place.repository.url, place.branch]), place]))
  return [...byKey.values()]
}
