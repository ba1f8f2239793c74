import { BailiwickError } from '../../errors.ts'
import { checkSize, DEFAULT_LIMITS, type TreeLimits } from '../../git/entry-limits.ts'
import type { ListedEntry } from '../../git/listed-tree.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import { packSnapshot, type SnapshotFile } from '../../git/snapshot.ts'
import type { TreeSnapshot } from '../../git/tree.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { fetchBlobs } from './fetch-blobs.ts'
import { fetchTarball } from './fetch-tarball.ts'
import { listTree } from './list-tree.ts'
import { readTreeId } from './read-commit.ts'

/** From so many missing files on, one archive is cheaper than a request each. */
const ARCHIVE_FROM = 50
/** What an archive left out is read one by one, up to so many; a repository that hides more is not read. */
const MAX_SINGLE_BLOBS = 1000
const READS_AT_ONCE = 32

interface TreeLocation extends RepositoryName {
  readonly commit: string
  /** Tree id of that commit, where the caller has read it: saves a request. */
  readonly tree?: string
}

/**
 * What a commit holds, every file checked against its git id and all of them against the tree's. Costs 3 requests for a
 * repository never seen, 2 and one per changed file for a new commit, none for a tree that is in the store.
 * Throws `git-missing`, `git-corrupt`, `git-truncated`, `git-ambiguous`, `render-limits`, `github-unavailable`, `not-permitted`.
 */
export async function readTree(
  octokit: Octokit,
  store: ObjectStore,
  location: TreeLocation,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<TreeSnapshot> {
  const treeId = location.tree ?? (await readTreeId(octokit, store, location, location.commit))
  const recent = store.recentSnapshot(treeId)
  if (recent) return recent
  const name = `${location.owner}/${location.repo}`
  const entries = await listTree(octokit, store, location, treeId, limits)
  checkSize(name, entries.length, 0, limits)
  const contents = await readContents(octokit, store, location, entries, limits)
  const files = entries.map((entry): SnapshotFile => {
    const content = entry.mode === '160000' ? new Uint8Array() : contents.get(entry.id)!
    return { path: entry.path, mode: entry.mode, id: entry.id, content }
  })
  checkSize(
    name,
    files.length,
    files.reduce((sum, file) => sum + file.content.length, 0),
    limits,
  )
  const snapshot = packSnapshot(files)
  if (snapshot.id !== treeId) {
    throw new BailiwickError('git-corrupt', `the files of ${name} hash to the tree ${snapshot.id}, not ${treeId}`)
  }
  store.keepSnapshot(snapshot)
  return snapshot
}

async function readContents(
  octokit: Octokit,
  store: ObjectStore,
  location: TreeLocation,
  entries: readonly ListedEntry[],
  limits: TreeLimits,
): Promise<Map<string, Uint8Array>> {
  const ids = [...new Set(entries.filter(entry => entry.mode !== '160000').map(entry => entry.id))]
  const contents = new Map<string, Uint8Array>()
  await readStored(store, ids, contents)
  let missing = ids.filter(id => !contents.has(id))
  if (missing.length > 1 && missing.length > Math.min(ARCHIVE_FROM, ids.length / 2)) {
    const wanted = new Set(missing)
    const found = await fetchTarball(octokit, store, location, location.commit, wanted, {
      bytes: limits.bytes,
      entries: entries.length,
    })
    await readStored(store, [...found], contents)
    missing = missing.filter(id => !contents.has(id))
  }
  if (missing.length > MAX_SINGLE_BLOBS) {
    throw new BailiwickError(
      'render-limits',
      `${missing.length} files of ${location.owner}/${location.repo} are missing in its archive`,
      {
        fix: `At most ${MAX_SINGLE_BLOBS} are read one by one: remove export-ignore and export-subst from .gitattributes.`,
      },
    )
  }
  await fetchBlobs(octokit, store, location, missing)
  await readStored(store, missing, contents)
  const lost = missing.find(id => !contents.has(id))
  if (lost)
    throw new BailiwickError('git-corrupt', `blob ${lost} disappeared from the cache right after it was written`)
  return contents
}

async function readStored(store: ObjectStore, ids: readonly string[], into: Map<string, Uint8Array>): Promise<void> {
  for (let start = 0; start < ids.length; start += READS_AT_ONCE) {
    const some = ids.slice(start, start + READS_AT_ONCE)
    const contents = await Promise.all(some.map(id => store.readBlob(id)))
    some.forEach((id, index) => {
      const content = contents[index]
      if (content) into.set(id, content)
    })
  }
}
