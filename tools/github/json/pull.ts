import { diffTrees } from '../git/diff.ts'
import { log, mergeBase } from '../git/graph.ts'
import { fullName, type Pull, type Repository, type User, type World } from '../world.ts'
import { labelsJson } from './label.ts'
import { nodeId } from './node-id.ts'
import { repositoryJson } from './repository.ts'
import { userJson } from './user.ts'

/** OpenAPI `author-association`, from what the user may do. */
export function associationOf(world: World, repository: Repository, user: User) {
  if (user.id === repository.owner.id) return 'OWNER'
  if (world.members.get(repository.owner.login)?.has(user.login)) return 'MEMBER'
  return repository.collaborators.has(user.login) ? 'COLLABORATOR' : 'NONE'
}

/** OpenAPI `pull-request-simple`: what lists hold. */
export function pullSimpleJson(world: World, repository: Repository, pull: Pull) {
  const { issue } = pull
  const api = `${world.url}/repos/${fullName(repository)}`
  const url = `${api}/pulls/${issue.number}`
  const html = `https://github.com/${fullName(repository)}/pull/${issue.number}`
  return {
    url,
    id: pull.id,
    node_id: nodeId('PR', pull.id),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: `${api}/issues/${issue.number}`,
    number: issue.number,
    state: issue.state,
    locked: false,
    title: issue.title,
    user: userJson(world, issue.user),
    body: issue.body,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    merged_at: pull.merged?.at ?? null,
    merge_commit_sha: pull.mergeCommit,
    ...{ assignee: null, assignees: [], requested_reviewers: [], requested_teams: [], milestone: null },
    labels: labelsJson(world, repository, issue),
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${api}/pulls/comments{/number}`,
    comments_url: `${api}/issues/${issue.number}/comments`,
    statuses_url: `${api}/statuses/${pull.head.sha}`,
    head: endJson(world, pull.head.repository, pull.head.ref, pull.head.sha),
    base: endJson(world, repository, pull.base.ref, pull.base.sha),
    _links: linksJson(api, issue.number, html, pull.head.sha),
    author_association: associationOf(world, repository, issue.user),
    auto_merge: null,
    active_lock_reason: null,
  }
}

/** OpenAPI `pull-request`: one pull request. */
export function pullJson(world: World, repository: Repository, pull: Pull) {
  const commits = log(repository.store, pull.head.sha, pull.base.sha).length
  const changes = changesOf(repository, pull)
  const count = (field: 'additions' | 'deletions') => changes.reduce((sum, change) => sum + change[field], 0)
  return {
    ...pullSimpleJson(world, repository, pull),
    merged: pull.merged !== undefined,
    mergeable: pull.merged ? null : pull.mergeable,
    rebaseable: null,
    mergeable_state: mergeableState(pull),
    merged_by: pull.merged ? userJson(world, pull.merged.by) : null,
    comments: world.lateCounts ? 0 : commentsOf(repository, pull),
    review_comments: pull.reviews.reduce((sum, review) => sum + review.comments.length, 0),
    maintainer_can_modify: false,
    commits,
    additions: count('additions'),
    deletions: count('deletions'),
    changed_files: changes.length,
  }
}

const commentsOf = (repository: Repository, { issue }: Pull): number =>
  [...repository.comments.values()].filter(comment => comment.issue === issue.number).length

/** What a pull request changes: from the merge base to its head, as GitHub shows it. */
export function changesOf(repository: Repository, pull: Pull) {
  const { store } = repository
  const base = mergeBase(store, pull.base.sha, pull.head.sha)
  return diffTrees(store, base && store.commit(base)?.tree, store.commit(pull.head.sha)!.tree)
}

function mergeableState(pull: Pull): string {
  if (pull.merged || pull.mergeable === null) return 'unknown'
  if (!pull.mergeable) return 'dirty'
  return pull.draft ? 'draft' : 'clean'
}

function endJson(world: World, repository: Repository, ref: string, sha: string) {
  return {
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: userJson(world, repository.owner),
    // a fork that is gone leaves its commits and its name
    repo: repository.deleted ? null : repositoryJson(world, repository),
  }
}

function linksJson(api: string, number: number, html: string, sha: string) {
  const url = `${api}/pulls/${number}`
  return {
    self: { href: url },
    html: { href: html },
    issue: { href: `${api}/issues/${number}` },
    comments: { href: `${api}/issues/${number}/comments` },
    review_comments: { href: `${url}/comments` },
    review_comment: { href: `${api}/pulls/comments{/number}` },
    commits: { href: `${url}/commits` },
    statuses: { href: `${api}/statuses/${sha}` },
  }
}
