import { commentPayload } from '../events/payloads.ts'
import { type App, type Comment, now, type Reaction, type Repository, type User, type World } from '../world.ts'
import { checkText } from './pull.ts'
import { mustBeWritable } from './repository.ts'

/** Writes a comment on an issue or pull request. Throws 422 above GitHub's 65,536 characters. */
export function addComment(
  world: World,
  repository: Repository,
  issue: number,
  by: User,
  app: App | undefined,
  body: string,
) {
  mustBeWritable(repository)
  checkText('IssueComment', 'body', body)
  const at = now()
  const comment: Comment = {
    ...{ id: world.nextId(), issue, user: by, app, body, createdAt: at, updatedAt: at, reactions: [] },
  }
  repository.comments.set(comment.id, comment)
  world.emit(repository, by, 'issue_comment', commentPayload(world, repository, 'created', comment))
  return comment
}

/** Changes the text of a comment. Throws 422 above GitHub's limit. */
export function editComment(world: World, repository: Repository, comment: Comment, body: string, by: User): void {
  checkText('IssueComment', 'body', body)
  const changes = { body: { from: comment.body } }
  comment.body = body
  comment.updatedAt = now()
  const payload = { ...commentPayload(world, repository, 'edited', comment), changes }
  world.emit(repository, by, 'issue_comment', payload)
}

export function deleteComment(world: World, repository: Repository, comment: Comment, by: User): void {
  repository.comments.delete(comment.id)
  world.emit(repository, by, 'issue_comment', commentPayload(world, repository, 'deleted', comment))
}

/** Adds a reaction; the same one of the same user again is that one. */
export function react(world: World, to: { readonly reactions: Reaction[] }, user: User, content: string) {
  const known = to.reactions.find(reaction => reaction.user === user && reaction.content === content)
  if (known) return { reaction: known, isNew: false }
  const reaction: Reaction = { id: world.nextId(), user, content, createdAt: now() }
  to.reactions.push(reaction)
  return { reaction, isNew: true }
}
