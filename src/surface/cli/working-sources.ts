import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import { FleetSession } from '../../fleet/graph/fleet-session.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { addressIn } from '../../fleet/model/fleet-config.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../../fleet/model/input.ts'
import type { SourceRef, WantedSource } from '../../fleet/model/source-ref.ts'
import { chooseTags } from '../../fleet/sources/version-range.ts'
import { openCommit, tagsOf } from '../../git/commits.ts'
import type { Tree } from '../../git/tree.ts'
import { currentBranch, isBareRepository, isWorkingCopy, openWorkingCopy, remoteUrls } from '../../git/working-copy.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { followedKey, refName, standsForRef } from './followed-sources.ts'
import type { GivenRepository } from './working-copy.ts'

/** Content that is already in memory: a tenant's repository, or the fleet's own for sources that follow its tags. */
export interface GivenTree {
  /** Normalized by normaliseUrl. */
  readonly url: string
  readonly branch: string
  readonly tree: Tree
}

/** Reads each directory once. */
export type ReadDirectory = (dir: string) => Promise<Tree>

/** A reader of folders and working copies that remembers what it has read. */
export function directoryReader(): ReadDirectory {
  const trees = new Map<string, Promise<Tree>>()
  return dir => {
    const known = trees.get(dir) ?? openWorkingCopy(dir)
    trees.set(dir, known)
    return known
  }
}

/** What a change takes from the state that it is compared with. */
export type Compared = Pick<FleetInput, 'config' | 'retain'>

export interface BuiltFleet {
  readonly fleet: Fleet
  readonly input: FleetInput
}

/**
 * Builds the fleet and reads the sources that it turns out to need, until none is missing: from `given`, `repositories`
 * and clones; a source that none of them has is opaque. `compared`: what a change takes from the state that it is
 * compared with. `stood`: what was followed before; a tag that something newly follows is read as it is now. Building
 * both sides of a comparison in one session renders what they share once.
 */
export async function buildCompleteFleet(
  home: FleetInput['fleet'],
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
  read: ReadDirectory,
  compared: Compared = {},
  session = new FleetSession(),
  fromClones: FromClones = async () => undefined,
  only?: string,
  stood?: ReadonlySet<string>,
): Promise<BuiltFleet> {
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  const own = [...given, home]
  for (;;) {
    const input = {
      fleet: home,
      sources: [...sources],
      opaque: [...opaque],
      ...compared,
      ...(only === undefined ? {} : { only }),
    }
    const fleet = session.build(input)
    if (fleet.wanted.length === 0) return { fleet, input }
    const addressOf = (url: string) => addressIn(fleet.config.aliases, url)
    const inFleet = <T extends { readonly url: string }>(all: readonly T[]): T[] =>
      all.map(one => ({ ...one, url: addressOf(one.url) }))
    // each round supplies all that was asked for, so the graph grows or the loop ends; its size is limited in the core
    for (const wanted of fleet.wanted) {
      const named = await find(wanted, inFleet(own), inFleet(repositories), read, stood)
      const found = named ?? (await fromClones(wanted, addressOf))
      if (typeof found === 'string') opaque.push({ ...wanted, reason: found })
      else if (found) sources.push({ ...wanted, commit: '', tree: found })
      else opaque.push({ ...wanted, reason: reasonFor(wanted, inFleet(own), inFleet(repositories)) })
    }
  }
}

async function find(
  { url, ref }: WantedSource,
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
  read: ReadDirectory,
  stood: ReadonlySet<string> | undefined,
): Promise<Tree | undefined> {
  const same = given.filter(one => one.url === url)
  const others = repositories.filter(one => one.url === url)
  const own = same.find(one => one.branch === ref.branch)
  const named = others.find(one => one.ref === refName(ref))
  if (own || named) return own ? own.tree : read(named!.dir)
  const isNew = stood !== undefined && !stood.has(followedKey({ url, ref }))
  const future = isNew ? undefined : same.find(one => standsForRef(one.branch, ref))
  const rest = others.find(one => one.ref === undefined)
  return future ? future.tree : rest && read(rest.dir)
}

function reasonFor(
  wanted: WantedSource,
  given: readonly GivenTree[],
  repositories: readonly GivenRepository[],
): string {
  const refs = [
    ...given.filter(one => one.url === wanted.url).map(one => one.branch),
    ...repositories.filter(one => one.url === wanted.url).map(one => one.ref),
  ]
  const [first] = refs
  const remedy = `--repo ${wanted.url}#${refName(wanted.ref)}=DIR shows it`
  if (first === undefined) return `not given: ${remedy}`
  return `the source follows ${refName(wanted.ref)}; this clone is on ${refs.join(', ')}: ${remedy}`
}

/** A clone below the folder of `--repos-dir`. */
interface Clone {
  readonly dir: string
  readonly isBare: boolean
  /** Normalized addresses by the name of the remote. */
  readonly remotes: ReadonlyMap<string, string>
}

/** `host/owner/name` below it, as some tools lay them out. */
const MAX_DEPTH = 3
const MAX_FOLDERS = 20_000

/** Every clone in a folder, also some folders deeper. Throws `usage` if there is none, `render-limits` if too large. */
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
  const top = await realpath(folder)
  for (const name of names) await visit(join(top, name), 1)
  if (clones.length > 0) return clones
  throw new BailiwickError('usage', `--repos-dir ${folder} contains no clone`, {
    fix: 'Name the folder that contains the clones.',
  })
}

/** Reads a source from clones; a text says why there is none; undefined: no clone has that address. */
export type FromClones = (
  wanted: WantedSource,
  addressOf: (url: string) => string,
) => Promise<Tree | string | undefined>

/**
 * Reads from a clone what a source follows, each once: the checked-out files if that is the branch, else the branch as
 * last fetched, the tag or the commit. Of several clones of an address, the one on that branch is meant, then one of `checked`,
 * the folders that are evaluated. Throws `usage` if two others have it.
 */
export function cloneReader(
  clones: readonly Clone[],
  read: (dir: string) => Promise<Tree>,
  checked: readonly string[] = [],
): FromClones {
  const known = new Map<string, Promise<Tree | string>>()
  return async ({ url, ref }, addressOf) => {
    const found = clones.flatMap(clone => {
      const names = [...clone.remotes].filter(([, address]) => addressOf(address) === url).map(([name]) => name)
      return names.length > 0 ? [{ clone, remote: names.includes('origin') ? 'origin' : names[0]! }] : []
    })
    const origins = found.filter(({ remote }) => remote === 'origin')
    const candidates = origins.length > 0 ? origins : found
    const there = await onBranch(candidates, ref.branch)
    const itself = there.filter(({ clone }) => checked.includes(clone.dir))
    const [first, second] = itself.length > 0 ? itself : there
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

/** A fleet and its tenants may be branches of one address, each in a clone of its own. */
async function onBranch<T extends { readonly clone: Clone }>(
  all: readonly T[],
  branch: string | undefined,
): Promise<readonly T[]> {
  if (all.length < 2 || branch === undefined) return all
  const checkedOut = await Promise.all(all.map(({ clone }) => (clone.isBare ? undefined : currentBranch(clone.dir))))
  const there = all.filter((_, index) => checkedOut[index] === branch)
  return there.length > 0 ? there : all
}

/**
 * Reads other refs of the fleet's own working copy in `dir`, whose address is `url`: another branch as last fetched, or
 * a commit. The checked-out files stand for the evaluated branch and are none of these.
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

/** Returns the result of the first reader that knows the source. */
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
