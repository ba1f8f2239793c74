import type { OwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { waitingClusters } from '../fleets/waiting-clusters.ts'
import type { RotationPlace } from './rotation-question.ts'

/** Which clusters have not applied a merged pull request yet, as far as our own check runs say; in plain words. */
export async function waitsOf(place: RotationPlace, pull: OwnPull, clusters: readonly string[]): Promise<string[]> {
  const waits = await waitingClusters(place, pull, clusters)
  return waits.map(({ cluster, isApplied }) =>
    isApplied
      ? `the worker has applied it to ${cluster}`
      : `a fleet admin says that ${cluster} reads with the new key: no worker of Bailiwick applies there`,
  )
}
