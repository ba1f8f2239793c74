import { diffTrees } from '../git/diff.ts'
import { isAncestor, log } from '../git/graph.ts'
import type { Commit } from '../git/store.ts'
import { checkRunJson } from '../json/check-run.ts'
import { simpleSuiteJson } from '../json/check-suite.ts'
import { emailOf } from '../json/commit.ts'
import { commentJson, issueJson } from '../json/issue.ts'
import { pullJson } from '../json/pull.ts'
import { type CheckRun, type Comment, fullName, type Pull, type Repository, type User, type World } from '../world.ts'

export const ZERO = '0'.repeat(40)
/** More commits than this are not listed in a push (docs.github.com, webhook events and payloads). */
const MOST_COMMITS = 2048

interface RefMove {
  readonly ref: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The `push` payload for a ref that moved, appeared or went. */
export function pushPayload(world: World, repository: Repository, pusher: User, { ref, before, after }: RefMove) {
  const { store } = repository
  const since = before ?? repository.refs.get(`refs/heads/${repository.defaultBranch}`)
  const commits = after ? log(store, after, since === after ? undefined : since).reverse() : []
  const head = after ? store.commit(after) : undefined
  const describe = (commit: Commit) => pushedCommit(world, repository, commit)
  return {
    ref,
    before: before ?? ZERO,
    after: after ?? ZERO,
    created: before === undefined,
    deleted: after === undefined,
    forced: before !== undefined && after !== undefined && !isAncestor(store, before, after),
    base_ref: null,
    compare: `https://github.com/${fullName(repository)}/compare/${(before ?? ZERO).slice(0, 12)}...${(after ?? ZERO).slice(0, 12)}`,
    commits: (before === undefined && since === after ? [] : commits).slice(-MOST_COMMITS).map(describe),
    head_commit: head ? describe(head) : null,
    pusher: { name: pusher.login, email: emailOf(pusher) },
  }
}

function pushedCommit(world: World, repository: Repository, commit: Commit) {
  const parent = commit.parents[0]
  const from = parent === undefined ? undefined : repository.store.commit(parent)?.tree
  const changes = diffTrees(repository.store, from, commit.tree)
  const paths = (status: string) => changes.filter(change => change.status === status).map(change => change.path)
  const person = (who: Commit['author']) => {
    const user = [...world.users.values()].find(known => emailOf(known) === who.email)
    return { name: who.name, email: who.email, ...(user ? { username: user.login } : {}) }
  }
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message,
    timestamp: commit.committer.date,
    url: `https://github.com/${fullName(repository)}/commit/${commit.sha}`,
    author: person(commit.author),
    committer: person(commit.committer),
    added: paths('added'),
    removed: paths('removed'),
    modified: paths('modified'),
  }
}

export function pullPayload(world: World, repository: Repository, action: string, pull: Pull, more = {}) {
  return { action, number: pull.issue.number, pull_request: pullJson(world, repository, pull), ...more }
}

export function commentPayload(world: World, repository: Repository, action: string, comment: Comment) {
  const issue = repository.issues.get(comment.issue)
  if (!issue) throw new Error(`comment ${comment.id} has no issue`)
  return {
    action,
    issue: issueJson(world, repository, issue),
    comment: commentJson(world, repository, comment),
  }
}

export function checkRunPayload(world: World, repository: Repository, action: string, run: CheckRun, more = {}) {
  const suite = repository.checkSuites.get(run.suite)
  if (!suite) throw new Error(`check run ${run.id} has no suite`)
  const check_suite = simpleSuiteJson(world, repository, suite)
  return { action, check_run: { ...checkRunJson(world, repository, run), check_suite }, ...more }
}
