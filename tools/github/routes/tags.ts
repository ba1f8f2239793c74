import { requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { created, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { emailOf } from '../json/commit.ts'
import { nodeId } from '../json/node-id.ts'
import { fullName, now, senderOf } from '../world.ts'

/** git/tags: annotated tags as objects; a ref makes them a tag that people see. */
export function tagRoutes(): Route[] {
  return [
    onRepository('GET', '/git/tags/{tag_sha}', 'contents:read', 'read', call =>
      ok(tagJson(call, call.params.tag_sha ?? '')),
    ),
    onRepository('POST', '/git/tags', 'contents:write', 'write', call => {
      const object = requiredText(call.body, 'object')
      if (!call.repo.store.commit(object)) throw new HttpError(422, 'Object does not exist')
      const user = senderOf(call.actor)
      const tagger = { name: user.login, email: emailOf(user), date: now() }
      const [name, message] = [requiredText(call.body, 'tag'), requiredText(call.body, 'message')]
      return created(tagJson(call, call.repo.store.putTag({ object, name, tagger, message })))
    }),
  ]
}

function tagJson(call: RepositoryCall, sha: string) {
  const tag = call.repo.store.tag(sha)
  if (!tag) throw notFound()
  const git = `${call.world.url}/repos/${fullName(call.repo)}/git`
  const object = { sha: tag.object, type: 'commit', url: `${git}/commits/${tag.object}` }
  const verification = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
  const { name, message, tagger } = tag
  return { node_id: nodeId('T', sha), tag: name, sha, url: `${git}/tags/${sha}`, message, tagger, object, verification }
}
