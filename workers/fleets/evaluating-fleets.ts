import { BailiwickError } from '../../src/errors.ts'
import { readFleetFile } from '../../src/fleet/config/read-fleet-file.ts'
import { rootsOf } from '../../src/fleet/graph/build-fleet.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace, ReadableRepository } from '../context/readable-repository.ts'

/** A fleet, and whether it evaluates itself only. */
interface EvaluatingFleet {
  readonly place: FleetPlace
  readonly alone: boolean
  /** It is too large to be read, so it is not known whether a cluster starts in it. */
  readonly unread?: BailiwickError
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
  const itself = { place: { repository: own, branch: own.defaultBranch }, alone: true }
  if (await installation.isFleet(own)) return [...designated, itself]
  const found = fleets.length === 0 && (await holdsRoot(installation, own))
  if (found instanceof BailiwickError) return [{ ...itself, unread: found }]
  return found ? [itself] : designated
}

/**
 * Whether what is merged says that a cluster starts somewhere in it; one that is only assumed says nothing. An artifact whose
 * content is only assumed counts here: the repository is evaluated by itself then, and reads nothing else.
 */
async function holdsRoot(
  installation: Installation,
  repository: ReadableRepository,
): Promise<boolean | BailiwickError> {
  const { url, defaultBranch: branch } = repository
  const commit = await installation.head(repository, { branch })
  if (commit === undefined) return false
  const snapshot = await installation.content(repository, commit).catch(tooLarge)
  if (snapshot instanceof BailiwickError) return snapshot
  const tree = openSnapshot(snapshot)
  const { roots } = rootsOf({ fleet: { url, branch, commit, tree } }, readFleetFile(tree, url))
  return roots.some(({ how }) => how !== 'assumed')
}

/** Why nothing is known of what is too large. */
function tooLarge(error: unknown): BailiwickError {
  if (!(error instanceof BailiwickError && error.code === 'render-limits')) throw error
  const what = `It is unknown whether this repository contains a cluster: ${error.message}`
  return new BailiwickError('render-limits', what, {
    fix: 'Have an owner of the organization designate the repository of the fleet, or remove the App from this one.',
    cause: error,
  })
}
