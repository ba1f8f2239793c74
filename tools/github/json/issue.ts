import { type Comment, fullName, type Issue, type Reaction, type Repository, type World } from '../world.ts'
import { appJson } from './app.ts'
import { labelsJson } from './label.ts'
import { nodeId } from './node-id.ts'
import { associationOf } from './pull.ts'
import { userJson } from './user.ts'

/** OpenAPI `issue`; a pull request's has `pull_request`, by which one tells them apart. */
export function issueJson(world: World, repository: Repository, issue: Issue) {
  const api = `${world.url}/repos/${fullName(repository)}`
  const url = `${api}/issues/${issue.number}`
  const pull = repository.pulls.get(issue.number)
  const html = `https://github.com/${fullName(repository)}/${pull ? 'pull' : 'issues'}/${issue.number}`
  const pullUrls = {
    url: `${api}/pulls/${issue.number}`,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    merged_at: pull?.merged?.at ?? null,
  }
  return {
    url,
    repository_url: api,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    id: issue.id,
    node_id: nodeId('I', issue.id),
    number: issue.number,
    title: issue.title,
    user: userJson(world, issue.user),
    labels: labelsJson(world, repository, issue),
    state: issue.state,
    state_reason: issue.stateReason,
    locked: false,
    ...{ assignee: null, assignees: [], milestone: null, active_lock_reason: null },
    comments: [...repository.comments.values()].filter(comment => comment.issue === issue.number).length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: associationOf(world, repository, issue.user),
    body: issue.body,
    reactions: rollup(`${url}/reactions`, issue.reactions),
    performed_via_github_app: issue.app ? appJson(world, issue.app) : null,
    ...(pull ? { draft: pull.draft, pull_request: pullUrls } : {}),
  }
}

/** OpenAPI `issue-comment`. */
export function commentJson(world: World, repository: Repository, comment: Comment) {
  const api = `${world.url}/repos/${fullName(repository)}`
  const url = `${api}/issues/comments/${comment.id}`
  const page = repository.pulls.has(comment.issue) ? 'pull' : 'issues'
  return {
    url,
    html_url: `https://github.com/${fullName(repository)}/${page}/${comment.issue}#issuecomment-${comment.id}`,
    issue_url: `${api}/issues/${comment.issue}`,
    id: comment.id,
    node_id: nodeId('IC', comment.id),
    user: userJson(world, comment.user),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: associationOf(world, repository, comment.user),
    body: comment.body,
    reactions: rollup(`${url}/reactions`, comment.reactions),
    performed_via_github_app: comment.app ? appJson(world, comment.app) : null,
  }
}

/** OpenAPI `reaction`. */
export function reactionJson(world: World, reaction: Reaction) {
  return {
    id: reaction.id,
    node_id: nodeId('REA', reaction.id),
    user: userJson(world, reaction.user),
    content: reaction.content,
    created_at: reaction.createdAt,
  }
}

const REACTIONS = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'] as const

/** OpenAPI `reaction-rollup`. */
export function rollup(url: string, reactions: readonly Reaction[]) {
  const count = (content: string) => reactions.filter(reaction => reaction.content === content).length
  const counts = Object.fromEntries(REACTIONS.map(content => [content, count(content)]))
  return { url, total_count: reactions.length, ...counts }
}
