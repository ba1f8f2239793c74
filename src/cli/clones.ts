import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import type { SourceRef, WantedSource } from '../fleet/model/source-ref.ts'
import { chooseTags } from '../fleet/sources/choose-tags.ts'
import { tagsOf } from '../git/branches.ts'
import { openCommit } from '../git/read-commit.ts'
import type { Tree } from '../git/tree.ts'
import { currentBranch, isBareRepository, isWorkingCopy, remoteUrls } from '../git/working-copy.ts'
import { normaliseUrl } from '../kube/url.ts'
import { refName } from './followed-sources.ts'

/** A clone below the folder of `--repos-dir`. */
interface Clone {
  readonly dir: string
  readonly isBare: boolean
  /** Normalised addresses by the name of the remote. */
  readonly remotes: ReadonlyMap<string, string>
}

/** `host/owner/name` below it, as some tools lay them out. */
const MAX_DEPTH = 3
const MAX_FOLDERS = 20_000

/** Every clone in a folder, also some folders deeper. Throws `usage` where there is none, `render-limits` for a whole disk. */
export async function clonesIn(folder: string): Promise<Clone[]> {
  const clones: Clone[] = []
  let seen = 0
  const visit = async (dir: string, depth: number): Promise<void> => {
    if (++seen > MAX_FOLDERS) {
      throw new BailiwickError('render-limits', `${folder} contains more than ${MAX_FOLDERS} folders`, {
        fix: 'Name the folder that contains the clones.',
      })
    }
    const isBare = await isBareRepository(dir)
    if (isBare || (await isWorkingCopy(dir))) {
      const urls = [...(await remoteUrls(dir))].map(([name, url]) => [name, normaliseUrl(url)] as const)
      clones.push({ dir, isBare, remotes: new Map(urls) })
    } else if (depth < MAX_DEPTH) {
      for (const name of await foldersIn(dir)) await visit(join(dir, name), depth + 1)
    }
  }
  const names = await foldersIn(folder)
  for (const name of names) await visit(join(folder, name), 1)
  if (clones.length > 0) return clones
  throw new BailiwickError('usage', `--repos-dir ${folder} contains no clone`, {
    fix: 'Name the folder that contains the clones.',
  })
}

/** What some clones have of a source; a text says why there is none, undefined: no clone has that address. */
export type FromClones = (
  wanted: WantedSource,
  addressOf: (url: string) => string,
) => Promise<Tree | string | undefined>

/**
 * Reads of a clone what a source follows: what is checked out, where that is the branch, else the branch as it was fetched
 * last, the tag or the commit; each once. It throws `usage` where two clones have the address.
 */
export function cloneReader(clones: readonly Clone[], read: (dir: string) => Promise<Tree>): FromClones {
  const known = new Map<string, Promise<Tree | string>>()
  return async ({ url, ref }, addressOf) => {
    const found = clones.flatMap(clone => {
      const names = [...clone.remotes].filter(([, address]) => addressOf(address) === url).map(([name]) => name)
      return names.length > 0 ? [{ clone, remote: names.includes('origin') ? 'origin' : names[0]! }] : []
    })
    const origins = found.filter(({ remote }) => remote === 'origin')
    const [first, second] = origins.length > 0 ? origins : found
    if (!first) return undefined
    if (second) {
      throw new BailiwickError('usage', `${first.clone.dir} and ${second.clone.dir} are both clones of ${url}`, {
        fix: `Choose one: --repo ${url}=${first.clone.dir}`,
      })
    }
    const key = `${first.clone.dir} ${refName(ref)}`
    const content = known.get(key) ?? contentOf(first.clone, first.remote, ref, read)
    known.set(key, content)
    return content
  }
}

/**
 * Reads of the fleet's own working copy in `dir`, whose address is `url`, what sources follow of it besides: another branch as
 * it was fetched last, or a commit. What is checked out stands for the branch that it is evaluated as, and is none of these.
 */
export function ownReader(dir: string, url: string, read: (dir: string) => Promise<Tree>): FromClones {
  const others = cloneReader([{ dir, isBare: true, remotes: new Map([['origin', url]]) }], read)
  return async (wanted, addressOf) => {
    if (url === '' || addressOf(url) !== wanted.url || !(await isWorkingCopy(dir))) return undefined
    const found = await others(wanted, addressOf)
    // where it is not there, the reason names what was given
    return typeof found === 'string' ? undefined : found
  }
}

/** What the first reader has that has any of it. */
export function oneAfterTheOther(readers: readonly FromClones[]): FromClones {
  return async (wanted, addressOf) => {
    for (const read of readers) {
      const found = await read(wanted, addressOf)
      if (found !== undefined) return found
    }
    return undefined
  }
}

async function contentOf(
  clone: Clone,
  remote: string,
  ref: SourceRef,
  read: (dir: string) => Promise<Tree>,
): Promise<Tree | string> {
  const { dir, isBare } = clone
  if (ref.semver && !ref.commit && !ref.name) {
    const [tag, second] = chooseTags(await tagsOf(dir), { semver: ref.semver })
    const tree = tag !== undefined && second === undefined && (await openCommit(dir, `refs/tags/${tag}`))
    return (
      tree || `the clone ${dir} has not one latest tag of ${ref.semver}: fetch its tags, or --repo URL=DIR gives one`
    )
  }
  if (!isBare && ref.branch !== undefined && (await currentBranch(dir)) === ref.branch) return read(dir)
  for (const name of namesOf(ref, remote)) {
    const tree = await openCommit(dir, name).catch(unlessMissing)
    if (tree) return tree
  }
  return `the clone ${dir} has no ${ref.branch === undefined ? refName(ref) : `branch ${ref.branch}`}: fetch it`
}

function namesOf({ commit, name, tag, branch }: SourceRef, remote: string): string[] {
  if (commit ?? name) return [commit ?? name!]
  if (tag) return [`refs/tags/${tag}`]
  return [`refs/remotes/${remote}/${branch}`, `refs/heads/${branch}`]
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof BailiwickError) || error.code !== 'git-missing') throw error
}

async function foldersIn(dir: string): Promise<string[]> {
  const isFolder = await lstat(dir).then(
    stats => stats.isDirectory() || stats.isSymbolicLink(),
    () => false,
  )
  if (!isFolder) {
    throw new BailiwickError('git-missing', `${dir} is not a folder`, { fix: 'Name an existing folder.' })
  }
  const entries = await readdir(dir, { withFileTypes: true })
  return entries
    .filter(entry => entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules')
    .map(entry => entry.name)
    .sort()
}
