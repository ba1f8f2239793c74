import type { Commit, FileEntry } from '../git/store.ts'
import { type FileContent, flatten, putFile, writeTree } from '../git/trees.ts'
import { emailOf } from '../json/commit.ts'
import { fullName, now, type Repository, type User, type World } from '../world.ts'
import { moveRef } from './move-ref.ts'

interface FilesToCommit {
  readonly branch: string
  readonly by: User
  readonly message: string
  readonly files?: Readonly<Record<string, FileContent>>
  /** Paths of files or whole directories; one that is not there is an error. */
  readonly remove?: readonly string[]
  /** Commit to stand on: default the tip of the branch, or of the default branch when the branch is new. */
  readonly parent?: string
}

/** Makes a commit on a branch and moves the branch to it, with all that follows. `allow` may throw before it moves. */
export function commitFiles(
  world: World,
  repository: Repository,
  wanted: FilesToCommit,
  allow = (_sha: string) => {},
): Commit {
  const { store, refs } = repository
  const ref = `refs/heads/${wanted.branch}`
  const parent = wanted.parent ?? refs.get(ref) ?? refs.get(`refs/heads/${repository.defaultBranch}`)
  const files = parent ? flatten(store, store.commit(parent)!.tree) : new Map<string, FileEntry>()
  for (const path of wanted.remove ?? []) {
    const gone = [...files.keys()].filter(name => name === path || name.startsWith(`${path}/`))
    if (gone.length === 0) throw new Error(`${fullName(repository)}@${wanted.branch} has no ${path} to remove`)
    for (const name of gone) files.delete(name)
  }
  for (const [path, content] of Object.entries(wanted.files ?? {})) files.set(path, putFile(store, content))
  const author = { name: wanted.by.login, email: emailOf(wanted.by), date: now() }
  const parents = parent ? [parent] : []
  const tree = writeTree(store, files)
  const sha = store.putCommit({ tree, parents, author, committer: author, message: wanted.message })
  allow(sha)
  moveRef(world, repository, ref, sha, wanted.by)
  return store.commit(sha)!
}
