import { BailiwickError } from '../../errors.ts'
import { checkPaths, checkSize, type TreeLimits } from '../../git/entry-limits.ts'
import { isMode, type ListedEntry } from '../../git/listed-tree.ts'
import type { ObjectStore } from '../../git/object-store.ts'
import { type MessagePart, message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

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
  octokit: Octokit,
  store: ObjectStore,
  repository: RepositoryName,
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
    return getTree(octokit, repository, tree, recursive)
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

async function getTree(octokit: Octokit, { owner, repo }: RepositoryName, tree: string, recursive: boolean) {
  const { data } = await github(message`list a tree of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.git.getTree({ owner, repo, tree_sha: tree, ...(recursive ? { recursive: '1' } : {}) }),
  )
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
