import { BailiwickError } from '../errors.ts'
import type { FleetInput } from '../fleet/input.ts'
import { readCommit } from '../git/read-commit.ts'
import { openSnapshot } from '../git/snapshot.ts'
import { isWorkingCopy } from '../git/working-copy.ts'
import type { CheckOptions } from './check-options.ts'
import { repositoryAddress } from './repository-address.ts'
import type { GivenTree, ReadDirectory } from './working-sources.ts'

/** One side of a comparison: the fleet, and the repository of a tenant where that is what is checked. */
export interface Side {
  readonly home: FleetInput['fleet']
  readonly given: readonly GivenTree[]
}

export interface Sides {
  /** Normalised address of the repository that is checked; '' where it has none. */
  readonly here: string
  readonly head: Side
  readonly base?: Side
}

/**
 * What is judged, and what it is compared with. With `--fleet` DIR is a tenant's repository, and the fleet stands still on
 * both sides. Throws `usage` for options that do not go together and `git-missing` for what is not there.
 */
export async function checkSides(options: CheckOptions, read: ReadDirectory): Promise<Sides> {
  const { dir, base, fleet } = options
  if (base !== undefined && !(await isWorkingCopy(dir))) {
    throw new BailiwickError('usage', `--base needs a git working copy, ${dir} is a plain folder`, {
      fix: 'Leave --base out, or name the root of a working copy.',
    })
  }
  const here = await repositoryAddress(dir, options)
  const tree = await read(dir)
  const baseTree = base === undefined ? undefined : await readCommit(dir, base)
  if (fleet === undefined) {
    const side = (own: Side['home']): Side => ({ home: own, given: [] })
    const head = side({ ...here, commit: '', tree })
    if (!baseTree) return { here: here.url, head }
    return { here: here.url, head, base: side({ ...here, commit: baseTree.commit, tree: openSnapshot(baseTree) }) }
  }
  if (here.url === '') {
    throw new BailiwickError('usage', `nobody knows which source of the fleet ${dir} is`, {
      fix: 'Add --url with the address that the fleet names it by.',
    })
  }
  const home = { ...(await repositoryAddress(fleet, {})), commit: '', tree: await read(fleet) }
  const head = { home, given: [{ ...here, tree }] }
  if (!baseTree) return { here: here.url, head }
  return { here: here.url, head, base: { home, given: [{ ...here, tree: openSnapshot(baseTree) }] } }
}
