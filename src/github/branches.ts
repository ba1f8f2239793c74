import { BailiwickError } from '../base/errors.ts'
import { message } from '../base/message.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import { checkPaths } from '../git/entry-limits.ts'
import { statusOf, unlessMissing } from './client/github-error.ts'
import {
  branchPart,
  type GitHubRepository,
  isOurs,
  type OurRepository,
  type RepositoryName,
  repositoryPart,
} from './client/octokit.ts'
import { assertCommitId, readCommit } from './contents/commits.ts'
import { readFile } from './contents/repositories.ts'

/** What a ref points at. */
export interface Head {
  readonly commit: string
  readonly tree: string
}

/** An annotated tag may point at another one; longer chains are not followed. */
const MAX_TAG_DEPTH = 5

/**
 * The commit and tree of a ref, or undefined when the repository does not have it, is empty or is hidden from the App.
 * A name is never guessed: a branch is looked up among branches only, a commit by its full id only. Throws
 * `flux-unsupported` for `semver`, which needs every tag, and for a `name` outside `refs/heads/` and `refs/tags/`.
 */
export async function readHead(repository: GitHubRepository, ref: SourceRef): Promise<Head | undefined> {
  // source-controller's order: commit over name over semver over tag over branch
  if (ref.commit) return readCommitHead(repository, ref.commit)
  if (ref.name) return readNamed(repository, ref.name)
  if (ref.semver) throw unsupported(repository, 'semver', ref.semver)
  if (ref.tag) return readTag(repository, ref.tag)
  return readBranch(repository, ref.branch || 'master')
}

/** The head of a branch, or undefined when there is none. */
export async function readBranch(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
): Promise<Head | undefined> {
  const found = await unlessMissing(octokit.rest.repos.getBranch({ owner, repo, branch }))
  // GitHub leads on from the old name of a renamed branch; git, and so Flux, does not
  if (!found || found.data.name !== branch) return undefined
  return { commit: found.data.commit.sha, tree: found.data.commit.commit.tree.sha }
}

async function readNamed(repository: GitHubRepository, name: string): Promise<Head | undefined> {
  if (name.startsWith('refs/heads/')) return readBranch(repository, name.slice('refs/heads/'.length))
  if (name.startsWith('refs/tags/')) return readTag(repository, name.slice('refs/tags/'.length))
  throw unsupported(repository, 'name', name)
}

async function readTag(repository: GitHubRepository, tag: string): Promise<Head | undefined> {
  const { octokit, owner, repo } = repository
  const found = await unlessMissing(octokit.rest.git.getRef({ owner, repo, ref: `tags/${tag}` }))
  if (!found || found.data.ref !== `refs/tags/${tag}`) return undefined
  let object: { readonly type: string; readonly sha: string } = found.data.object
  for (let depth = 0; object.type === 'tag' && depth < MAX_TAG_DEPTH; depth++) {
    const { sha } = object
    const inner = await unlessMissing(octokit.rest.git.getTag({ owner, repo, tag_sha: sha }))
    if (!inner) return undefined
    object = inner.data.object
  }
  return object.type === 'commit' ? readCommitHead(repository, object.sha) : undefined
}

async function readCommitHead({ octokit, owner, repo }: GitHubRepository, sha: string): Promise<Head | undefined> {
  assertCommitId(sha)
  const found = await unlessMissing(octokit.rest.git.getCommit({ owner, repo, commit_sha: sha }))
  return found?.data.sha === sha ? { commit: sha, tree: found.data.tree.sha } : undefined
}

function unsupported({ owner, repo }: RepositoryName, field: string, value: string): BailiwickError {
  const shown = JSON.stringify(value.slice(0, 100))
  return new BailiwickError(
    'flux-unsupported',
    `A source follows ${owner}/${repo} by ${field} ${shown}, which is not read yet`,
    {
      fix: 'Follow a branch, a tag, a commit, or a name below refs/heads/ or refs/tags/.',
    },
  )
}

/**
 * Since when a branch has its commit, by GitHub's own clock; undefined where GitHub has no record of it, or one of
 * another commit. The time in a commit is set by its author, and it may have been on other branches long before.
 */
export async function headSince(
  { octokit, owner, repo }: GitHubRepository,
  branch: string,
  sha: string,
): Promise<string | undefined> {
  try {
    const found = await unlessMissing(
      octokit.rest.repos.listActivities({ owner, repo, ref: `refs/heads/${branch}`, direction: 'desc', per_page: 10 }),
    )
    const [last] = found?.data ?? []
    return last?.ref === `refs/heads/${branch}` && last.after === sha ? last.timestamp : undefined
  } catch (error) {
    // a fork that the App is not installed on
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}

/** What a branch has that another has not. */
export interface BranchChange {
  /** Tree of the parent, where the branch is ahead by one commit that is not a merge. */
  readonly onlyParentTree: string | undefined
  /**
   * GitHub attributes each of its commits to our bot. That follows from an address in the commit, which anyone can
   * write: good enough to know that no person's work is thrown away, never to trust what the branch holds.
   */
  readonly allOurs: boolean
}

/** Compares a branch with its base. Throws as every request does. */
export async function changeOf(repository: OurRepository, base: string, head: Head): Promise<BranchChange> {
  const { octokit, owner, repo } = repository
  const { data } = await octokit.rest.repos.compareCommitsWithBasehead({
    owner,
    repo,
    basehead: `${base}...${head.commit}`,
  })
  // at most 250 commits are listed; ours are one or two
  const complete = data.total_commits === data.commits.length
  const [only] = data.commits
  const parent = only?.parents.length === 1 ? only.parents[0]?.sha : undefined
  const isOne = complete && data.commits.length === 1 && only?.sha === head.commit
  const allOurs = complete && data.commits.every(one => isOurs(repository.app, userOf(one.author)))
  return {
    onlyParentTree: isOne && parent ? (await readCommit(repository, parent)).tree : undefined,
    allOurs,
  }
}

function userOf(author: object | null) {
  if (!author || !('login' in author) || !('type' in author)) return { user: null }
  return { user: { login: String(author.login), type: String(author.type) } }
}

/** So many changes of a file are looked at; older ones do not matter. */
const MAX_CHANGES = 10

/**
 * Logins of the people whose merged pull requests brought into a file what `holds` finds in it, by the last change that did;
 * empty where that is not known: a push, a bot, or too long ago.
 */
export async function introducedBy(
  name: GitHubRepository,
  { commit, file }: { readonly commit: string; readonly file: string },
  holds: (text: string) => boolean,
): Promise<readonly string[]> {
  const { octokit, owner, repo } = name
  const listed = await unlessMissing(
    octokit.rest.repos.listCommits({ owner, repo, sha: commit, path: file, per_page: MAX_CHANGES }),
  )
  const holdsAt = async (ref: string | undefined) => {
    const bytes = ref === undefined ? undefined : await readFile(name, file, ref)
    return bytes !== undefined && holds(new TextDecoder().decode(bytes))
  }
  for (const { sha, parents } of listed?.data ?? []) {
    if (!(await holdsAt(sha))) return []
    // dates are text: only the parent shows that it was not there before
    if (!(await holdsAt(parents[0]?.sha))) return authorsOf(name, sha)
  }
  return []
}

/** Authors of every merged pull request that contains a commit; empty where one of them is not a person. */
async function authorsOf({ octokit, owner, repo }: GitHubRepository, sha: string): Promise<readonly string[]> {
  const found = await unlessMissing(
    octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha, per_page: 100 }),
  )
  const merged = (found?.data ?? []).filter(one => one.merged_at !== null)
  const people = merged.flatMap(({ user }) => (user?.type === 'User' ? [user.login] : []))
  return people.length === merged.length ? [...new Set(people)] : []
}

/** A file as a commit brings it; without content it is deleted. */
export interface CommittedFile {
  readonly path: string
  readonly content: string | null
  readonly mode?: '100644' | '100755'
}

/** Writes a tree: these files over those of `base`, or alone. */
export async function writeTree(
  { octokit, owner, repo }: GitHubRepository,
  base: string | undefined,
  files: readonly CommittedFile[],
): Promise<string> {
  const tree = files.map(({ path, content, mode = '100644' }) => {
    return { path, mode, type: 'blob' as const, ...(content === null ? { sha: null } : { content }) }
  })
  const onto = base === undefined ? {} : { base_tree: base }
  return (await octokit.rest.git.createTree({ owner, repo, ...onto, tree })).data.sha
}

/** Writes a commit that is on no branch yet. Without an author GitHub names our bot and signs it. */
export async function writeCommit(
  { octokit, owner, repo }: GitHubRepository,
  commit: { readonly message: string; readonly tree: string; readonly parents: string[] },
): Promise<string> {
  return (await octokit.rest.git.createCommit({ owner, repo, ...commit })).data.sha
}

/**
 * Lets `move` add a commit to a branch that is at exactly `before`; undefined where the branch is elsewhere by now. Throws
 * `not-permitted` where a rule of the branch refuses.
 */
async function advance<T>(
  repository: GitHubRepository,
  branch: string,
  before: string | undefined,
  move: () => Promise<T>,
) {
  try {
    return await move()
  } catch (error) {
    // 422 is "Update is not a fast forward", 409 the same of a file, and both a refusal by a ruleset or protection
    if (![409, 422].includes(statusOf(error) ?? 0)) throw error
    if ((await readBranch(repository, branch))?.commit !== before) return undefined
    throw new BailiwickError(
      'not-permitted',
      message`A ruleset or protection of ${branchPart(branch)} of ${repositoryPart(repository)} rejects the commit`,
      { fix: 'Make the changes by hand, or let the App push to this branch.' },
    )
  }
}

/** One file to add to a branch. */
interface AddedFile {
  readonly branch: string
  readonly path: string
  readonly content: string
  /** Of the commit. */
  readonly message: string
}

/**
 * Adds a file to a branch as one commit on `head`; without a head, that commit starts a new branch without history. Throws if
 * the branch moved meanwhile, and `not-permitted` if its protection refuses. Returns the commit. One request has no fence: if
 * the branch moves just before it, the commit is there, on top of another one than `head`.
 */
export async function appendFile(
  repository: GitHubRepository,
  head: Head | undefined,
  { branch, message: text, ...file }: AddedFile,
): Promise<string> {
  const { octokit, owner, repo } = repository
  const add = async () => {
    const content = Buffer.from(file.content).toString('base64')
    const wanted = { owner, repo, branch, path: file.path, message: text, content }
    const { commit } = (await octokit.rest.repos.createOrUpdateFileContents(wanted)).data
    return commit.parents?.[0]?.sha === head?.commit ? commit.sha : undefined
  }
  const begin = async () => {
    const tree = await writeTree(repository, undefined, [file])
    const sha = await writeCommit(repository, { message: text, tree, parents: [] })
    await octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha })
    return sha
  }
  const added = await advance(repository, branch, head?.commit, head ? add : begin)
  if (added !== undefined) return added
  throw new BailiwickError(
    'github-unavailable',
    message`${branchPart(branch)} of ${repositoryPart(repository)} moved while a commit was written`,
  )
}

/** Changed files, as one commit on top of exactly `head`. */
interface FileCommit {
  readonly branch: string
  readonly head: string
  readonly files: readonly CommittedFile[]
  readonly message: string
  /** Called after the commit exists and before the branch moves to it. */
  readonly beforeMove?: (sha: string) => Promise<void>
}

/**
 * Commits to a branch that exists, never by force. Undefined where the branch is not at `head` any more: the request
 * was for another state. Throws `not-permitted` where its protection refuses.
 */
export async function commitFiles(
  repository: GitHubRepository,
  { branch, head, files, message: text, beforeMove }: FileCommit,
): Promise<string | undefined> {
  checkPaths(`${repository.owner}/${repository.repo}`, files)
  const present = await readBranch(repository, branch)
  if (present?.commit !== head) return undefined
  const tree = await writeTree(repository, present.tree, files)
  const sha = await writeCommit(repository, { message: text, tree, parents: [head] })
  await beforeMove?.(sha)
  const { octokit, owner, repo } = repository
  return advance(repository, branch, head, async () => {
    await octokit.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha, force: false })
    return sha
  })
}
