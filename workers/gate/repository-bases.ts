import { mayLeadTo } from '../../src/fleet/model/named-repositories.ts'
import { type Base, checkNames, type NamedCheck } from '../../src/gate/check-names.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readFleets, type StandingFleet } from '../fleets/read-fleets.ts'
import { requiredNames } from './required-names.ts'

/** The gated bases of one repository, as they are now. */
export interface RepositoryBases {
  /** Branches that a fleet follows or lists. */
  readonly followed: readonly string[]
  /** The checks of a head of pull requests into these branches; none where none of them is gated. */
  checksOf(aims: readonly string[]): Promise<readonly NamedCheck[]>
}

/** Reads which bases of a repository are gated. `fleets`: the present fleets, if the caller has read them. */
export async function readBases(
  context: WorkerContext,
  subject: OpenedRepository,
  fleets?: readonly StandingFleet[],
): Promise<RepositoryBases> {
  const { installation, repository } = subject
  const standing = fleets ?? (await readFleets(context, installation))
  const { url, defaultBranch } = repository
  const followed = followedIn(standing, url)
  // a platform node that could not be rendered may follow any branch of it
  const anyBranch = standing.some(({ hides }) => mayLeadTo(hides, url))
  const counting = anyBranch ? [...followed, defaultBranch] : followed
  // read at each question: what passes must not be published by rules that changed meanwhile
  const readBase = async (branch: string): Promise<Base> => ({
    branch,
    isDefault: branch === defaultBranch,
    followed: anyBranch || followed.includes(branch),
    required: await requiredNames(context, subject, branch),
  })
  return {
    followed,
    checksOf: async aims => checkNames(await Promise.all([...new Set([...counting, ...aims])].map(readBase)), aims),
  }
}

/** Branches of a repository that these fleets follow or list, their own included. */
function followedIn(fleets: readonly StandingFleet[], url: string): string[] {
  const branches = fleets.flatMap(({ place, gated = [] }) => {
    const own = { url: place.repository.url, branch: place.branch }
    return [own, ...gated].filter(one => one.url === url).map(({ branch }) => branch)
  })
  return [...new Set(branches)].sort()
}
