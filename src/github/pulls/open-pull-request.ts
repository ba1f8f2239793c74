import { BailiwickError } from '../../errors.ts'
import { checkPaths } from '../../git/entry-limits.ts'
import { message, part } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { type Head, readBranch } from './branch.ts'
import { type BranchChange, changeOf } from './branch-change.ts'

interface NewPullRequest {
  readonly base: string
  readonly branch: string
  readonly files: readonly { readonly path: string; readonly content: string }[]
  /** Paths to delete; each must be there. */
  readonly removed?: readonly string[]
  readonly title: string
  /** Markdown. */
  readonly body: string
  /** Of the commit. */
  readonly message: string
  /** What must be so before anybody can merge it; done when the branch has the commit, and again with each call. */
  readonly beforeOpen?: () => Promise<void>
}

export interface OpenedPullRequest {
  readonly number: number
  readonly url: string
  /** The commit that we made, or that is exactly what we would have made. */
  readonly head: string
  /** False: it was open already and is as it should be. */
  readonly written: boolean
}

/**
 * Opens a pull request with one commit on top of the base branch. Calling it again gives the same pull request, brought up
 * to date where the files differ. A branch of that name is taken over only where nothing of anybody else is on it: its one
 * commit is exactly this change, or each of its commits and its open pull request are our App's. Else `onboard-input`, as when
 * there is nothing to change. Throws `git-missing` without the base branch.
 */
export async function openPullRequest(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  wanted: NewPullRequest,
): Promise<OpenedPullRequest> {
  const repository = { owner, repo }
  const name = `${owner}/${repo}`
  checkPaths(name, [...wanted.files, ...(wanted.removed ?? []).map(path => ({ path }))])
  const base = await readBranch(octokit, repository, wanted.base)
  if (!base)
    throw new BailiwickError(
      'git-missing',
      message`${repositoryPart({ owner, repo })} has no branch ${part('branch', wanted.base, JSON.stringify(wanted.base))}`,
    )
  const head = await readBranch(octokit, repository, wanted.branch)
  const open = await findOpen(octokit, repository, wanted)
  if (open && !isOurs(app, open)) throw taken(name, wanted.branch, `pull request #${open.number} is not from Bailiwick`)
  if (!head) {
    const commit = await commitOn(octokit, repository, base, wanted)
    await createRef(octokit, repository, wanted.branch, commit)
    await wanted.beforeOpen?.()
    return create(octokit, repository, wanted, commit)
  }
  const change = await changeOf(octokit, app, repository, wanted.base, head)
  if (await isExactly(octokit, repository, change, head, wanted)) {
    await wanted.beforeOpen?.()
    if (!open) return create(octokit, repository, wanted, head.commit)
    return { number: open.number, url: open.html_url, head: head.commit, written: false }
  }
  if (!open) throw taken(name, wanted.branch, 'it has no open pull request of Bailiwick')
  if (!change.allOurs) throw taken(name, wanted.branch, 'it has a commit of someone else')
  // rebuilt on the base, not added to: nothing that is on the branch now survives
  const commit = await commitOn(octokit, repository, base, wanted)
  await wanted.beforeOpen?.()
  await moveRef(octokit, repository, wanted.branch, commit)
  await github(message`update pull request ${repositoryPart({ owner, repo }, open.number)}`, () =>
    octokit.rest.pulls.update({ owner, repo, pull_number: open.number, title: wanted.title, body: wanted.body }),
  )
  return { number: open.number, url: open.html_url, head: commit, written: true }
}

/** Whether the branch is one commit whose difference to its parent is this change, whoever made it. */
async function isExactly(
  octokit: Octokit,
  repository: RepositoryName,
  change: BranchChange,
  head: Head,
  wanted: NewPullRequest,
): Promise<boolean> {
  if (!change.onlyParentTree) return false
  return (await createTree(octokit, repository, change.onlyParentTree, wanted)) === head.tree
}

async function commitOn(octokit: Octokit, repository: RepositoryName, base: Head, wanted: NewPullRequest) {
  const { owner, repo } = repository
  const tree = await createTree(octokit, repository, base.tree, wanted)
  if (tree === base.tree) {
    throw new BailiwickError('onboard-input', message`${repositoryPart({ owner, repo })} already has these files`, {
      fix: 'No change is needed.',
    })
  }
  const { data } = await github(message`write a commit to ${repositoryPart({ owner, repo })}`, () =>
    // without an author GitHub names our bot and signs the commit
    octokit.rest.git.createCommit({ owner, repo, message: wanted.message, tree, parents: [base.commit] }),
  )
  return data.sha
}

async function createTree(octokit: Octokit, repository: RepositoryName, baseTree: string, wanted: NewPullRequest) {
  const { data } = await github(message`write a tree to ${repositoryPart(repository)}`, () =>
    octokit.rest.git.createTree({
      owner: repository.owner,
      repo: repository.repo,
      base_tree: baseTree,
      tree: [
        ...wanted.files.map(({ path, content }) => ({ path, mode: '100644' as const, type: 'blob' as const, content })),
        ...(wanted.removed ?? []).map(path => ({ path, mode: '100644' as const, type: 'blob' as const, sha: null })),
      ],
    }),
  )
  return data.sha
}

async function findOpen(octokit: Octokit, { owner, repo }: RepositoryName, { base, branch }: NewPullRequest) {
  const { data } = await github(message`list the open pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.pulls.list({ owner, repo, state: 'open', base, head: `${owner}:${branch}`, per_page: 100 }),
  )
  // a head that GitHub cannot parse would be ignored and every pull request returned
  return data.find(one => one.base.ref === base && one.head.ref === branch && one.head.repo?.id === one.base.repo.id)
}

async function create(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  { base, branch, title, body }: NewPullRequest,
  commit: string,
): Promise<OpenedPullRequest> {
  const { data } = await github(message`open a pull request on ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.pulls.create({ owner, repo, base, head: branch, title, body }),
  )
  return { number: data.number, url: data.html_url, head: commit, written: true }
}

async function createRef(octokit: Octokit, { owner, repo }: RepositoryName, branch: string, sha: string) {
  await github(
    message`create branch ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha }),
  )
}

async function moveRef(octokit: Octokit, { owner, repo }: RepositoryName, branch: string, sha: string) {
  await github(
    message`update branch ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.git.updateRef({ owner, repo, ref: `heads/${branch}`, sha, force: true }),
  )
}

function taken(name: string, branch: string, why: string): BailiwickError {
  return new BailiwickError('onboard-input', `The branch ${JSON.stringify(branch)} of ${name} is in use: ${why}`, {
    fix: 'Delete that branch (and close its pull request), then run the command again.',
  })
}
