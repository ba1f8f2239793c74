import { defaultBranch, namedBranch } from '../git/branches.ts'
import { currentBranch, isWorkingCopy, remoteUrl } from '../git/working-copy.ts'
import { normaliseUrl } from '../kube/url.ts'

/** How Flux sources name the repository in a folder, and the branch that the folder stands for. */
export interface RepositoryAddress {
  readonly url: string
  readonly branch: string
  /** Where the branch is known from. */
  readonly because: string
  /** The default branch, where the one that is checked out was taken. */
  readonly usual?: string
}

interface AddressOptions {
  readonly url?: string | undefined
  readonly branch?: string | undefined
  readonly base?: string | undefined
  /** Variables of a CI, which are about the repository that is checked and no other. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The reason for a branch that nothing but the working copy itself names. */
export const CHECKED_OUT = 'checked out'

/** The branch that a change is to be merged into, as GitHub Actions and GitLab CI say it. */
const TARGETS = ['GITHUB_BASE_REF', 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME']

/**
 * What was said on the command line, else the remote `origin` ('' without one) and the branch that the folder is evaluated
 * as: with `--base` the one that it names or tracks, for the change is to be merged there; where it names none, or nothing
 * is checked out, what the CI says, else the default branch; otherwise the checked-out one; `main` for a plain folder.
 */
export async function repositoryAddress(dir: string, options: AddressOptions): Promise<RepositoryAddress> {
  const address = options.url ?? (await remoteUrl(dir))
  return { url: address === undefined ? '' : normaliseUrl(address), ...(await branchOf(dir, options)) }
}

async function branchOf(dir: string, options: AddressOptions): Promise<Omit<RepositoryAddress, 'url'>> {
  const { branch, base, env = {} } = options
  if (branch !== undefined) return { branch, because: '--branch' }
  if (!(await isWorkingCopy(dir))) return { branch: 'main', because: 'a folder without git' }
  if (base === undefined) {
    const current = await currentBranch(dir)
    const queued = /^gh-readonly-queue\/(.+)\/pr-\d+-[0-9a-f]{40}$/.exec(current ?? '')?.[1]
    if (queued !== undefined) return { branch: queued, because: `merge queue branch ${current}` }
    if (current !== undefined) return { branch: current, because: CHECKED_OUT, ...(await usualBranch(dir)) }
  } else {
    const named = await namedBranch(dir, base)
    if (named !== undefined) return { branch: named, because: `--base ${base}` }
  }
  for (const name of TARGETS) {
    const target = env[name]
    if (target) return { branch: target, because: name }
  }
  const byDefault = await defaultBranch(dir)
  if (byDefault !== undefined) return { branch: byDefault, because: 'the default branch' }
  return { branch: 'main', because: 'the default branch is not known' }
}

async function usualBranch(dir: string): Promise<{ usual?: string }> {
  const usual = await defaultBranch(dir)
  return usual === undefined ? {} : { usual }
}
