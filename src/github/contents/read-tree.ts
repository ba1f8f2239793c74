import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { BailiwickError } from '../../base/errors.ts'
import { type Message, type MessagePart, message, part } from '../../base/message.ts'
import { capped, checkPaths, checkSize, DEFAULT_LIMITS, type TreeLimits } from '../../git/entry-limits.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import {
  isMode,
  type ListedEntry,
  objectId,
  packSnapshot,
  type SnapshotFile,
  type TreeSnapshot,
} from '../../git/tree.ts'
import { githubError } from '../client/github-error.ts'
import { type GitHubRepository, repositoryPart, settleAll } from '../client/octokit.ts'
import { readTreeId } from './commits.ts'

/** From so many missing files on, one archive is cheaper than a request each. */
const ARCHIVE_FROM = 50
/** What an archive left out is read one by one, up to so many; a repository that hides more is not read. */
const MAX_SINGLE_BLOBS = 1000
const READS_AT_ONCE = 32

interface TreeLocation extends GitHubRepository {
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
  location: TreeLocation,
  store: ObjectStore,
  limits: TreeLimits = DEFAULT_LIMITS,
): Promise<TreeSnapshot> {
  const treeId = location.tree ?? (await readTreeId(location, store, location.commit))
  const recent = store.recentSnapshot(treeId)
  if (recent) return recent
  const name = `${location.owner}/${location.repo}`
  const entries = await listTree(location, store, treeId, limits)
  checkSize(name, entries.length, 0, limits)
  const contents = await readContents(location, store, entries, limits)
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
  location: TreeLocation,
  store: ObjectStore,
  entries: readonly ListedEntry[],
  limits: TreeLimits,
): Promise<Map<string, Uint8Array>> {
  const ids = [...new Set(entries.filter(entry => entry.mode !== '160000').map(entry => entry.id))]
  const contents = new Map<string, Uint8Array>()
  await readStored(store, ids, contents)
  let missing = ids.filter(id => !contents.has(id))
  if (missing.length > 1 && missing.length > Math.min(ARCHIVE_FROM, ids.length / 2)) {
    const wanted = new Set(missing)
    const found = await fetchTarball(location, store, location.commit, wanted, {
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
  await fetchBlobs(location, store, missing)
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

/** A listing in parts may cost this many requests; GitHub cuts at 100,000 entries or 7 MB, so few repositories need any. */
const MAX_REQUESTS = 100
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

interface Listing {
  readonly entries: { path: string; mode: string; type: string; sha: string; size: number }[]
  readonly truncated: boolean
}

/**
 * Every file, symlink and submodule of a tree. The listing is hashed, so what GitHub left out or mixed up cannot pass.
 * Throws `git-truncated` for a listing that GitHub does not give completely, `git-corrupt`, `git-ambiguous`, `render-limits`.
 */
export async function listTree(
  repository: GitHubRepository,
  store: ObjectStore,
  treeId: string,
  limits: TreeLimits,
): Promise<readonly ListedEntry[]> {
  const stored = await store.readListing(treeId)
  if (stored) return stored
  if (treeId === EMPTY_TREE) return []
  const name = `${repository.owner}/${repository.repo}`
  const found: Listing['entries'] = []
  let requests = 0
  const ask = (tree: string, recursive: boolean) => {
    if (++requests > MAX_REQUESTS) throw truncated(repositoryPart(repository))
    return getTree(repository, tree, recursive)
  }
  const visit = async (tree: string, prefix: string): Promise<void> => {
    let listing = await ask(tree, true)
    const whole = !listing.truncated
    if (!whole) listing = await ask(tree, false)
    if (listing.truncated) throw truncated(repositoryPart(repository))
    for (const entry of listing.entries) {
      const path = prefix + entry.path
      if (entry.type !== 'tree') found.push({ ...entry, path })
      else if (!whole) await visit(entry.sha, `${path}/`)
    }
    checkSize(name, found.length, 0, limits)
  }
  await visit(treeId, '')
  checkPaths(name, found)
  checkSize(
    name,
    found.length,
    found.reduce((sum, entry) => sum + entry.size, 0),
    limits,
  )
  const entries = found.map(entry => listedEntry(name, entry))
  await store.writeListing(treeId, entries)
  return entries
}

async function getTree({ octokit, owner, repo }: GitHubRepository, tree: string, recursive: boolean) {
  const { data } = await octokit.rest.git.getTree({
    owner,
    repo,
    tree_sha: tree,
    ...(recursive ? { recursive: '1' } : {}),
  })
  if (!Array.isArray(data.tree))
    throw new BailiwickError(
      'github-unavailable',
      message`GitHub answered without a tree of ${repositoryPart({ owner, repo })}`,
    )
  const entries = data.tree.map(({ path, mode, type, sha, size }) => ({
    path,
    mode,
    type,
    sha: sha ?? '',
    size: size ?? 0,
  }))
  return { entries, truncated: data.truncated !== false }
}

function listedEntry(name: string, { path, mode, sha }: Listing['entries'][number]): ListedEntry {
  if (isMode(mode)) return { path, mode, id: sha }
  throw new BailiwickError('git-ambiguous', `${name}: ${JSON.stringify(path)} has the mode ${JSON.stringify(mode)}`, {
    fix: 'Allowed are 100644, 100755, 120000 and 160000; commit the file again with a current git.',
  })
}

function truncated(name: MessagePart): BailiwickError {
  return new BailiwickError(
    'git-truncated',
    message`GitHub does not list all files of ${name}: the repository is too large`,
    {
      fix: 'Keep what clusters are built from in a repository of its own.',
    },
  )
}

const PARALLEL = 6

/**
 * Reads blobs one request each and puts them into the store, which checks them. Throws `git-corrupt` when an answer is
 * not what its id says, `git-missing` where there is none.
 */
export async function fetchBlobs(
  repository: GitHubRepository,
  store: ObjectStore,
  ids: readonly string[],
): Promise<void> {
  const open = [...ids]
  const work = async () => {
    try {
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        await store.writeBlob(id, await fetchBlob(repository, id))
      }
    } catch (error) {
      open.length = 0
      throw error
    }
  }
  await settleAll(Array.from({ length: Math.min(PARALLEL, ids.length) }, work))
}

async function fetchBlob({ octokit, owner, repo }: GitHubRepository, id: string): Promise<Uint8Array> {
  const { data } = await octokit.rest.git.getBlob({ owner, repo, file_sha: id })
  if (typeof data.content !== 'string') {
    throw new BailiwickError(
      'github-unavailable',
      message`GitHub returned no content of blob ${part('value', id)} of ${repositoryPart({ owner, repo })}`,
    )
  }
  return Buffer.from(data.content, data.encoding === 'utf-8' ? 'utf8' : 'base64')
}

/** What a tar archive adds per entry: header, padding, and extended headers for long names. */
const OVERHEAD_PER_ENTRY = 8 * 1024
const OVERHEAD = 1024 * 1024
const WRITES_AT_ONCE = 32

interface TarballLimits {
  /** No wanted file is larger than all of them together may be. */
  readonly bytes: number
  readonly entries: number
}

/**
 * Reads the archive of a commit in one request and stores what is wanted of it. The archive is a bag of contents: names,
 * modes and links in it mean nothing, only a content whose git id is wanted is taken. So `export-ignore` and `export-subst`
 * (gitattributes) merely leave ids over for the caller: returned are those that were found.
 * Throws `render-limits` when the archive unpacks to more than the tree can explain.
 */
async function fetchTarball(
  { octokit, owner, repo }: GitHubRepository,
  store: ObjectStore,
  commit: string,
  wanted: ReadonlySet<string>,
  limits: TarballLimits,
): Promise<ReadonlySet<string>> {
  const what = message`read the archive of ${repositoryPart({ owner, repo })}`
  const { data } = await octokit.rest.repos.downloadTarballArchive({
    owner,
    repo,
    ref: commit,
    request: { parseSuccessResponseBody: false },
  })
  const found = new Set<string>()
  const writes = new Set<Promise<void>>()
  const max = limits.bytes + limits.entries * OVERHEAD_PER_ENTRY + OVERHEAD
  const unpack = extract()
  const read = async () => {
    for await (const entry of unpack) {
      const content = await contentOf(entry as AsyncIterable<Uint8Array>, entry.header, limits.bytes)
      const id = content && objectId('blob', content)
      if (!id || !wanted.has(id) || found.has(id)) continue
      found.add(id)
      const write = store.writeBlob(id, content)
      // settleAll reports it; a failure before that must not end the process as unhandled
      write.catch(() => {})
      writes.add(write)
      if (writes.size < WRITES_AT_ONCE) continue
      await settleAll([...writes])
      writes.clear()
    }
  }
  const body = Readable.fromWeb(data as Parameters<typeof Readable.fromWeb>[0])
  const unpacked = await Promise.allSettled([
    pipeline(body, createGunzip(), capped(max, `The archive of ${owner}/${repo}`), unpack),
    read(),
  ])
  // our own disk first: its failure ends the archive early, but is not GitHub's
  await settleAll([...writes])
  const failures = unpacked.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
  if (failures.length > 0) throw archiveError(what, failures)
  return found
}

async function contentOf(
  entry: AsyncIterable<Uint8Array>,
  header: Header,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const wanted = header.type === 'file' && header.size <= maxBytes
  const chunks: Uint8Array[] = []
  // what is not wanted must be read too: the next entry comes after it
  for await (const chunk of entry) if (wanted) chunks.push(chunk)
  if (header.type === 'symlink') return Buffer.from(header.linkname)
  return wanted ? Buffer.concat(chunks) : undefined
}

/** A torn or mangled archive: the same request may give a whole one. A limit of ours is final. */
function archiveError(what: Message, failures: readonly unknown[]): BailiwickError {
  const ours = failures.find(failure => failure instanceof BailiwickError)
  if (ours) return ours
  const mapped = githubError(what, failures[0])
  if (mapped.code !== 'internal') return mapped
  return new BailiwickError('github-unavailable', message`Could not ${what}: the archive is damaged`, {
    cause: failures[0],
  })
}
