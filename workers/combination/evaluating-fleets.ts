import { BailiwickError } from '../../src/errors.ts'
import { rootsOf } from '../../src/fleet/build-fleet.ts'
import { readFleetFile } from '../../src/fleet/config/read-fleet-file.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Installation } from './installation.ts'
import type { FleetPlace, ReadableRepository } from './readable-repository.ts'

/** A fleet, and whether it evaluates itself only. */
export interface EvaluatingFleet {
  readonly place: FleetPlace
  readonly alone: boolean
}

/**
 * The fleets that evaluate a change in the repository at `url`: the designated ones, and the repository itself where it has
 * a `clusters` directory and is not designated. That one reads nothing else, because whoever may write to it decides what
 * it names. No other repository is asked. Where nothing is designated, a root of a cluster anywhere in it is enough.
 */
export async function evaluatingFleets(installation: Installation, url: string): Promise<EvaluatingFleet[]> {
  const { fleets } = await installation.designation()
  const designated = fleets.map(place => ({ place, alone: false }))
  if (fleets.some(({ repository }) => repository.url === url)) return designated
  const own = (await installation.repositories()).find(one => one.url === url)
  if (!own) return designated
  const isOne = (await installation.isFleet(own)) || (fleets.length === 0 && (await holdsRoot(installation, own)))
  if (!isOne) return designated
  return [...designated, { place: { repository: own, branch: own.defaultBranch }, alone: true }]
}

/** Whether what is merged says that a cluster starts somewhere in it; one that is only assumed says nothing. */
async function holdsRoot(installation: Installation, repository: ReadableRepository): Promise<boolean> {
  const { url, defaultBranch: branch } = repository
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) return false
  const snapshot = await installation.content(repository, commit).catch(tooLarge)
  if (!snapshot) return false
  const tree = openSnapshot(snapshot)
  const { roots } = rootsOf({ fleet: { url, branch, commit, tree } }, readFleetFile(tree, url))
  return roots.some(({ how }) => how !== 'assumed')
}

/** What could not be evaluated anyway is no fleet of its own. */
function tooLarge(error: unknown): undefined {
  if (!(error instanceof BailiwickError && error.code === 'render-limits')) throw error
}
