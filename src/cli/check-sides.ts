import { BailiwickError } from '../errors.ts'
import type { FleetInput } from '../fleet/model/input.ts'
import { openCommit } from '../git/read-commit.ts'
import { isWorkingCopy } from '../git/working-copy.ts'
import type { CheckOptions } from './check-options.ts'
import { type RepositoryAddress, repositoryAddress } from './repository-address.ts'
import { rootFolder } from './root-folder.ts'
import { withSyncedAddress } from './synced-address.ts'
import type { History } from './with-earlier.ts'
import type { GivenTree, ReadDirectory } from './working-sources.ts'

/** One side of a comparison: the fleet, and the repository of a tenant where that is what is checked. */
export interface Side {
  readonly home: FleetInput['fleet']
  readonly given: readonly GivenTree[]
  /** The commits before. */
  readonly history: History
}

export interface Sides {
  /** Root folder of the checked repository. */
  readonly dir: string
  /** The repository that is checked, and what it stands for; its url is '' where it has none. */
  readonly here: RepositoryAddress
  /** The fleet, where that is another repository. */
  readonly fleet?: RepositoryAddress
  readonly head: Side
  readonly base?: Side
}

/**
 * What is evaluated, and what it is compared with. With `--fleet` DIR is a tenant's repository, and the fleet stands still on
 * both sides, at its own branch. Throws `usage` for options that do not go together and `git-missing` for what is not there.
 */
export async function checkSides(options: CheckOptions, read: ReadDirectory, env: Environment): Promise<Sides> {
  const { base, url: givenUrl, roots: clusters = [] } = options
  const dir = await rootFolder(options.dir, { base, url: givenUrl, isTenant: options.fleet !== undefined })
  if (base !== undefined && !(await isWorkingCopy(dir))) {
    throw new BailiwickError('usage', `--base needs a git working copy, ${dir} is a plain folder`, {
      fix: 'Leave --base out, or name a folder of a working copy.',
    })
  }
  const stated = await repositoryAddress(dir, { ...options, env })
  const tree = await read(dir)
  const baseTree = base === undefined ? undefined : await openCommit(dir, base, tree)
  const isFleet = givenUrl === undefined && options.fleet === undefined
  // by the base, so that no change says which repository it is in
  const here = isFleet ? withSyncedAddress(stated, baseTree ?? tree) : stated
  const { url, branch } = here
  if (options.fleet === undefined) {
    // the remote is this repository, too: a change may be the one that has its clusters follow it by this name
    const alias = stated.url === url || stated.url === '' ? {} : { alias: stated.url }
    const side = (own: Side['home'], commit?: string): Side => ({
      ...{ home: { ...own, ...alias }, given: [] },
      history: { dir, ...(commit === undefined ? {} : { commit }) },
    })
    const head = side({ url, branch, commit: '', tree, clusters })
    if (!baseTree) return { dir, here, head }
    const { commit } = baseTree
    return { dir, here, head, base: side({ url, branch, commit, tree: baseTree, clusters }, commit) }
  }
  if (url === '') {
    throw new BailiwickError('usage', `${dir} has no remote origin, so its source in the fleet is unknown`, {
      fix: 'Add --url with the address that the fleet uses for it.',
    })
  }
  const fleetDir = await rootFolder(options.fleet)
  const fleetTree = await read(fleetDir)
  const fleet = withSyncedAddress(await repositoryAddress(fleetDir, {}), fleetTree)
  const home = { url: fleet.url, branch: fleet.branch, commit: '', tree: fleetTree, clusters }
  const history = { dir: fleetDir }
  const head = { home, history, given: [{ url, branch, tree }] }
  if (!baseTree) return { dir, here, fleet, head }
  return { dir, here, fleet, head, base: { home, history, given: [{ url, branch, tree: baseTree }] } }
}

type Environment = Readonly<Record<string, string | undefined>>
