import { react } from '../actions/comment.ts'
import { requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { reactionJson } from '../json/issue.ts'
import { type Comment, type Issue, senderOf } from '../world.ts'
import { commentOf } from './comments.ts'
import { issueOf } from './issues.ts'

const READ = 'issues:read|pull_requests:read'
const WRITE = 'issues:write|pull_requests:write'

/** Reactions on issues and on their comments. */
export function reactionRoutes(): Route[] {
  return [
    ...reactionsOn('/issues/comments/{comment_id}/reactions', commentOf),
    ...reactionsOn('/issues/{issue_number}/reactions', issueOf),
  ]
}

function reactionsOn(path: string, subject: (call: RepositoryCall) => Comment | Issue): Route[] {
  return [
    onRepository('GET', path, READ, 'read', call => {
      const content = call.query.get('content')
      const found = subject(call).reactions.filter(reaction => !content || reaction.content === content)
      return list(call, found, reaction => reactionJson(call.world, reaction))
    }),
    onRepository('POST', path, WRITE, 'read', call => {
      const content = requiredText(call.body, 'content')
      const { reaction, isNew } = react(call.world, subject(call), senderOf(call.actor), content)
      const json = reactionJson(call.world, reaction)
      return isNew ? created(json) : ok(json)
    }),
    onRepository('DELETE', `${path}/{reaction_id}`, WRITE, 'read', call => {
      const { reactions } = subject(call)
      const at = reactions.findIndex(reaction => String(reaction.id) === call.params.reaction_id)
      if (at < 0) throw notFound()
      if (reactions[at]!.user !== senderOf(call.actor))
        throw new HttpError(403, 'You do not have permission to delete this reaction.')
      reactions.splice(at, 1)
      return noContent()
    }),
  ]
}
