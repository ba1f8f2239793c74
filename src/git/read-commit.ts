import { BailiwickError } from '../errors.ts'
import { decodeRecords } from './decode-paths.ts'
import { checkPaths, checkSize, DEFAULT_LIMITS, LOCAL_LIMITS, type TreeLimits } from './entry-limits.ts'
import { lazyTree } from './lazy-tree.ts'
import { isMode, type ListedEntry } from './listed-tree.ts'
import { blobOf } from './open-files.ts'
import { readBlobs, smallBlobs } from './read-blobs.ts'
import { statsOf } from './read-file-entry.ts'
import { resolveRef } from './resolve-ref.ts'
import { askGit } from './run-git.ts'
import { packSnapshot } from './snapshot.ts'
import type { Tree, TreeSnapshot } from './tree.ts'

interface CommitSnapshot extends TreeSnapshot {
  readonly commit: string
}

/** A commit of which only what is asked for is read. */
interface CommitTree extends Tree {
  readonly commit: string
}

/**
 * What a commit of a local repository holds. `ref` may come from a person: it is looked up, never run as an option.
 * Throws `git-missing` for an unknown ref and for a folder that is not the root of its repository, `git-ambiguous`, `git-corrupt`, `render-limits`.
 */
export async function readCommit(
  dir: string,
  ref: string,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<CommitSnapshot> {
  const { commit, tree, entries } = await listCommit(dir, ref)
  checkPaths(dir, entries)
  checkSize(
    dir,
    entries.length,
    entries.reduce((sum, entry) => sum + entry.size, 0),
    limits,
  )
  const blobs = await readBlobs(dir, idsOf(entries))
  const snapshot = packSnapshot(
    entries.map(({ path, mode, id }) => ({ path, mode, id, content: blobs.get(id) ?? new Uint8Array() })),
  )
  return { ...assertTree(snapshot, tree, commit), commit }
}

/**
 * The same, of which only what is asked for is read: its size does not matter, the number of its files is limited. What
 * `beside`, another tree of that repository, has at the same path is taken from there.
 */
export async function openCommit(
  dir: string,
  ref: string,
  beside?: Tree,
  limits: TreeLimits = LOCAL_LIMITS,
): Promise<CommitTree> {
  const { commit, tree, entries } = await listCommit(dir, ref)
  const isBeside = ({ path, id }: ListedEntry) => beside?.entry(path)?.id === id
  const blobs = await smallBlobs(dir, idsOf(entries.filter(entry => !isBeside(entry))))
  const load = (entry: ListedEntry) =>
    isBeside(entry) ? beside!.read(entry.path) : (blobs.get(entry.id) ?? blobOf(dir, entry.id))
  const opened = assertTree(lazyTree(dir, entries, load, limits), tree, commit)
  return { ...opened, commit }
}

const idsOf = (entries: readonly ListedEntry[]): string[] => [
  ...new Set(entries.filter(entry => entry.mode !== '160000').map(entry => entry.id)),
]

function assertTree<T extends { readonly id: string }>(made: T, tree: string, commit: string): T {
  if (made.id === tree) return made
  throw new BailiwickError('git-corrupt', `commit ${commit}: its files do not match the tree ${tree}`)
}

async function listCommit(dir: string, ref: string) {
  await assertRoot(dir)
  const { commit } = await resolveRef(dir, ref)
  const tree = await revision(dir, `${commit}^{tree}`)
  if (!tree) throw new BailiwickError('git-missing', `${dir}: the tree of commit ${commit} is missing`)
  return { commit, tree, entries: await listTree(dir, commit) }
}

async function listTree(dir: string, id: string) {
  const listing = await askGit(dir, ['ls-tree', '-r', '-z', '-l', '--full-tree', id])
  if (!listing) throw new BailiwickError('git-missing', `git could not list ${id} of ${dir}`)
  return decodeRecords(dir, listing).map(record => parseRecord(dir, record))
}

/** A commit is a whole repository's: compared with a folder inside of it, every path would be another. */
async function assertRoot(dir: string): Promise<void> {
  const prefix = (await statsOf(dir))?.isDirectory() && (await askGit(dir, ['rev-parse', '--show-prefix']))
  if (prefix && prefix.toString().trim() === '') return
  throw new BailiwickError('git-missing', `${dir}: not the root of a git repository`, {
    fix: 'Use the folder that contains .git. If this one does, run `git status` there.',
  })
}

async function revision(dir: string, expression: string): Promise<string | undefined> {
  const output = await askGit(dir, ['rev-parse', '--verify', '--quiet', '--end-of-options', expression])
  const id = output?.toString().trim() ?? ''
  return /^[0-9a-f]{40}$/.test(id) ? id : undefined
}

function parseRecord(dir: string, record: string): ListedEntry & { readonly size: number } {
  const tab = record.indexOf('\t')
  const [mode, , id = '', size] = record.slice(0, tab).split(/ +/)
  const path = record.slice(tab + 1)
  if (isMode(mode)) return { path, mode, id, size: Number(size) || 0 }
  throw new BailiwickError(
    'git-ambiguous',
    `${dir}: ${JSON.stringify(path)} has the unknown mode ${JSON.stringify(mode)}`,
    {
      fix: 'Commit the file again with a current version of git. Allowed modes: 100644, 100755, 120000 and 160000.',
    },
  )
}
