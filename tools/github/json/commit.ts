import type { FileChange } from '../git/diff.ts'
import type { Commit, Signature } from '../git/store.ts'
import { fullName, type Repository, type User, type World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { userJson } from './user.ts'

const SIGNED = {
  ...{ verified: true, reason: 'valid', signature: '-----BEGIN PGP SIGNATURE-----', payload: 'tree' },
  verified_at: '2026-01-01T00:00:00Z',
}
const UNSIGNED = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }

/** OpenAPI `git-commit`: the object itself. */
export function gitCommitJson(world: World, repository: Repository, commit: Commit) {
  const api = `${world.url}/repos/${fullName(repository)}/git`
  const page = `https://github.com/${fullName(repository)}/commit`
  return {
    sha: commit.sha,
    node_id: nodeId('C', commit.sha),
    url: `${api}/commits/${commit.sha}`,
    html_url: `${page}/${commit.sha}`,
    author: commit.author,
    committer: commit.committer,
    tree: { sha: commit.tree, url: `${api}/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map(sha => ({ sha, url: `${api}/commits/${sha}`, html_url: `${page}/${sha}` })),
    verification: repository.store.signed.has(commit.sha) ? SIGNED : UNSIGNED,
  }
}

/** OpenAPI `commit`: with the accounts of its people and, when `changes` is given, its files. */
export function commitJson(world: World, repository: Repository, commit: Commit, changes?: readonly FileChange[]) {
  const git = gitCommitJson(world, repository, commit)
  const url = `${world.url}/repos/${fullName(repository)}/commits/${commit.sha}`
  const account = (signature: Signature) => {
    const user = accountOf(world, signature)
    return user ? userJson(world, user) : null
  }
  const { author, committer, message, tree, verification } = git
  const stats = changes && {
    additions: sum(changes, 'additions'),
    deletions: sum(changes, 'deletions'),
    total: sum(changes, 'additions') + sum(changes, 'deletions'),
  }
  return {
    sha: commit.sha,
    node_id: git.node_id,
    url,
    html_url: git.html_url,
    comments_url: `${url}/comments`,
    commit: { url: git.url, author, committer, message, tree, comment_count: 0, verification },
    author: account(commit.author),
    committer: account(commit.committer),
    parents: commit.parents.map(sha => ({
      sha,
      url: `${world.url}/repos/${fullName(repository)}/commits/${sha}`,
      html_url: `https://github.com/${fullName(repository)}/commit/${sha}`,
    })),
    ...(changes ? { stats, files: changes.map(change => fileJson(world, repository, commit.sha, change)) } : {}),
  }
}

/** OpenAPI `diff-entry`. */
export function fileJson(world: World, repository: Repository, sha: string, change: FileChange) {
  const name = fullName(repository)
  const path = encodeURI(change.path)
  const at = change.status === 'removed' ? `${sha}~1` : sha
  return {
    sha: change.sha,
    filename: change.path,
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    blob_url: `https://github.com/${name}/blob/${at}/${path}`,
    raw_url: `https://github.com/${name}/raw/${at}/${path}`,
    contents_url: `${world.url}/repos/${name}/contents/${path}?ref=${at}`,
    ...(change.patch === undefined ? {} : { patch: change.patch }),
  }
}

/** OpenAPI `simple-commit`. */
export function simpleCommitJson({ sha, tree, message, author, committer }: Commit) {
  return {
    ...{ id: sha, tree_id: tree, message, timestamp: committer.date },
    author: { name: author.name, email: author.email },
    committer: { name: committer.name, email: committer.email },
  }
}

/** The address under which commits of a user are recorded. */
export const emailOf = (user: User): string => `${user.id}+${user.login}@users.noreply.github.com`

function accountOf(world: World, signature: Signature): User | undefined {
  return [...world.users.values()].find(user => emailOf(user) === signature.email)
}

function sum(changes: readonly FileChange[], field: 'additions' | 'deletions'): number {
  return changes.reduce((total, change) => total + change[field], 0)
}
