import { CHECK_NAME } from '../../src/gate/check-names.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readFleets } from '../fleets/read-fleets.ts'
import { type RepositoryBases, readBases } from './repository-bases.ts'

/** The check that a branch should require, given the gated bases of its repository. */
export type OwnCheckName = (repository: ReadableRepository, branch: string) => Promise<string>

/** Reads fleets and bases once, for any number of branches. */
export function ownCheckNames(context: WorkerContext, installation: Installation, octokit: Octokit): OwnCheckName {
  const known = new Map<string, Promise<RepositoryBases>>()
  const fleets = readFleets(context, installation)
  fleets.catch(() => undefined) // whoever asks is told
  return async (repository, branch) => {
    const bases =
      known.get(repository.url) ?? fleets.then(all => readBases(context, { installation, repository, octokit }, all))
    known.set(repository.url, bases)
    const [own] = await (await bases).checksOnto(branch)
    return own?.name ?? CHECK_NAME
  }
}
