import { BailiwickError } from '../base/errors.ts'
import { message } from '../base/message.ts'
import { checkPaths } from '../git/entry-limits.ts'
import {
  type BranchChange,
  type CommittedFile,
  changeOf,
  type Head,
  readBranch,
  writeCommit,
  writeTree,
} from './branches.ts'
import { unlessMissing } from './client/github-error.ts'
import { branchPart, type GitHubRepository, isOurs, type OurRepository, repositoryPart } from './client/octokit.ts'

export interface NewPullRequest {
  readonly base: string
  readonly branch: string
  /** What is deleted must be there. */
  readonly files: readonly CommittedFile[]
  readonly title: string
  /** Markdown. */
  readonly body: string
  /** Of the commit; default the title. */
  readonly message?: string
  /** What must be so before it can be merged; done when the branch has the commit, and again with each call. */
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
export async function openPullRequest(repository: OurRepository, wanted: NewPullRequest): Promise<OpenedPullRequest> {
  const { octokit, app, owner, repo } = repository
  const name = `${owner}/${repo}`
  checkPaths(name, wanted.files)
  const base = await readBranch(repository, wanted.base)
  if (!base)
    throw new BailiwickError(
      'git-missing',
      message`${repositoryPart(repository)} has no branch ${branchPart(wanted.base)}`,
    )
  const head = await readBranch(repository, wanted.branch)
  const open = (await pullsFrom(repository, wanted.branch, 'open')).find(one => one.base.ref === wanted.base)
  if (open && !isOurs(app, open)) throw taken(name, wanted.branch, `pull request #${open.number} is not from Bailiwick`)
  if (!head) {
    const commit = await commitOn(repository, base, wanted)
    await octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${wanted.branch}`, sha: commit })
    await wanted.beforeOpen?.()
    return create(repository, wanted, commit)
  }
  const change = await changeOf(repository, wanted.base, head)
  if (await isExactly(repository, change, head, wanted)) {
    await wanted.beforeOpen?.()
    if (!open) return create(repository, wanted, head.commit)
    return { number: open.number, url: open.html_url, head: head.commit, written: false }
  }
  if (!open) throw taken(name, wanted.branch, 'it has no open pull request of Bailiwick')
  if (!change.allOurs) throw taken(name, wanted.branch, 'it has a commit of someone else')
  // rebuilt on the base, not added to: nothing that is on the branch now survives
  const commit = await commitOn(repository, base, wanted)
  await wanted.beforeOpen?.()
  await octokit.rest.git.updateRef({ owner, repo, ref: `heads/${wanted.branch}`, sha: commit, force: true })
  await octokit.rest.pulls.update({ owner, repo, pull_number: open.number, title: wanted.title, body: wanted.body })
  return { number: open.number, url: open.html_url, head: commit, written: true }
}

/** Whether the branch is one commit whose difference to its parent is this change, by any author. */
async function isExactly(
  repository: GitHubRepository,
  change: BranchChange,
  head: Head,
  wanted: NewPullRequest,
): Promise<boolean> {
  if (!change.onlyParentTree) return false
  return (await writeTree(repository, change.onlyParentTree, wanted.files)) === head.tree
}

async function commitOn(repository: GitHubRepository, base: Head, wanted: NewPullRequest): Promise<string> {
  const tree = await writeTree(repository, base.tree, wanted.files)
  const { title, message: text = title } = wanted
  if (tree !== base.tree) return writeCommit(repository, { message: text, tree, parents: [base.commit] })
  throw new BailiwickError('onboard-input', message`${repositoryPart(repository)} already has these files`, {
    fix: 'No change is needed.',
  })
}

async function create(
  { octokit, owner, repo }: GitHubRepository,
  { base, branch, title, body }: NewPullRequest,
  commit: string,
): Promise<OpenedPullRequest> {
  const { data } = await octokit.rest.pulls.create({ owner, repo, base, head: branch, title, body })
  return { number: data.number, url: data.html_url, head: commit, written: true }
}

function taken(name: string, branch: string, why: string): BailiwickError {
  return new BailiwickError('onboard-input', `The branch ${JSON.stringify(branch)} of ${name} is in use: ${why}`, {
    fix: 'Delete that branch (and close its pull request), then run the command again.',
  })
}

/** The pull requests from a branch of the repository itself. */
async function pullsFrom({ octokit, owner, repo }: GitHubRepository, branch: string, state: 'open' | 'all') {
  const asked = { owner, repo, state, head: `${owner}:${branch}`, per_page: 100 }
  const found = await octokit.paginate(octokit.rest.pulls.list, asked)
  // a head that GitHub cannot parse would be ignored and every pull request returned
  return found.filter(one => one.head.ref === branch && one.head.repo?.id === one.base.repo.id)
}

/** The pull request of ours that is open from one of our branches; undefined where there is none. */
export async function findPullRequest(
  repository: OurRepository,
  branch: string,
): Promise<{ readonly number: number; readonly body: string } | undefined> {
  const ours = (await pullsFrom(repository, branch, 'open')).find(one => isOurs(repository.app, one))
  return ours && { number: ours.number, body: ours.body ?? '' }
}

/** Whether there is a branch of that name from which no pull request is open: one that was merged or closed left it. */
export async function isLeftBranch(repository: GitHubRepository, branch: string): Promise<boolean> {
  if (!(await readBranch(repository, branch))) return false
  return (await pullsFrom(repository, branch, 'open')).length === 0
}

/** A pull request that our App opened. */
export interface OwnPull {
  readonly number: number
  readonly state: 'open' | 'closed' | 'merged'
  readonly body: string
  /** Its branch, and the last commit of it. */
  readonly branch: string
  readonly head: string
  /** Of a merged one: the commit that its merge made. */
  readonly mergeCommit?: string
  /** ISO time of the merge. */
  readonly mergedAt?: string
}

/** The pull request as it is now; undefined where there is none, or another account opened it. */
export async function readOwnPull(
  { octokit, app, owner, repo }: OurRepository,
  number: number,
): Promise<OwnPull | undefined> {
  const found = await unlessMissing(octokit.rest.pulls.get({ owner, repo, pull_number: number }))
  return found && isOurs(app, found.data) ? ownPull(found.data) : undefined
}

interface PullData {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly body: string | null
  readonly head: { readonly ref: string; readonly sha: string }
  readonly merge_commit_sha: string | null
  readonly merged_at: string | null
}

/** GitHub's record of a pull request of ours. */
function ownPull({ number, state, merged, body, head, merge_commit_sha, merged_at }: PullData): OwnPull {
  return {
    number,
    state: merged ? 'merged' : state === 'open' ? 'open' : 'closed',
    ...{ body: body ?? '', branch: head.ref, head: head.sha },
    // of one that is open it is a trial
    ...(merged && merge_commit_sha !== null ? { mergeCommit: merge_commit_sha } : {}),
    ...(merged && merged_at !== null ? { mergedAt: merged_at } : {}),
  }
}

/** Pull requests of ours, the one that changed last first. */
interface ListedOwnPulls {
  readonly pulls: readonly OwnPull[]
  /** Every pull request of the repository was looked at. */
  readonly isAll: boolean
}

/** Pull requests of ours from branches that begin with `prefix`, among those that changed last: a hundred on each page. */
export async function listOwnPulls(
  { octokit, app, owner, repo }: OurRepository,
  prefix: string,
  pages: number,
): Promise<ListedOwnPulls> {
  const question = { owner, repo, state: 'all', sort: 'updated', direction: 'desc', per_page: 100 } as const
  let read = 0
  let isAll = true
  const found = await octokit.paginate(octokit.rest.pulls.list, question, ({ data, headers }, done) => {
    if (++read >= pages) {
      isAll = !headers.link?.includes('rel="next"')
      done()
    }
    return data
  })
  const ours = found.filter(one => {
    return one.head.ref.startsWith(prefix) && one.head.repo?.id === one.base.repo.id && isOurs(app, one)
  })
  // a pull request that changes meanwhile is on two pages
  const byNumber = new Map(ours.map(one => [one.number, one]))
  return { pulls: [...byNumber.values()].map(one => ownPull({ ...one, merged: one.merged_at !== null })), isAll }
}

/** More pages than any fleet has. */
const MAX_PAGES = 200

/** All of them, however long ago they changed. Throws `git-truncated` where the repository has more than 20,000 pull requests. */
export async function listAllOwnPulls(repository: OurRepository, prefix: string): Promise<readonly OwnPull[]> {
  const { pulls, isAll } = await listOwnPulls(repository, prefix, MAX_PAGES)
  if (isAll) return pulls
  const { owner, repo } = repository
  throw new BailiwickError(
    'git-truncated',
    `${owner}/${repo}: more than ${MAX_PAGES * 100} pull requests are not listed`,
    {
      fix: 'Move the fleet to a repository with fewer pull requests.',
    },
  )
}

/** What became of a pull request that our App opened once; `none`: it never did. */
type Offer = { readonly state: 'open'; readonly pull: number } | { readonly state: 'closed' | 'none' }

/** What became of our pull request from one branch onto another; one that is open counts more than those before it. */
export async function readOffer(
  repository: OurRepository,
  { base, branch }: { readonly base: string; readonly branch: string },
): Promise<Offer> {
  const all = await pullsFrom(repository, branch, 'all')
  const ours = all.filter(one => one.base.ref === base && isOurs(repository.app, one))
  const open = ours.find(one => one.state === 'open')
  if (open) return { state: 'open', pull: open.number }
  return { state: ours.length > 0 ? 'closed' : 'none' }
}
