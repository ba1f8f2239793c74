import { commitNamed } from '../actions/resolve.ts'
import { requiredText, text } from '../http/body.ts'
import { HttpError } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { statusJson } from '../json/status.ts'
import { now, senderOf } from '../world.ts'

/** GitHub's: of one context on one commit (OpenAPI text of repos/create-commit-status). */
const MOST_OF_A_CONTEXT = 1000

/** Commit statuses. No `status` event is sent, and there is no combined view. */
export function statusRoutes(): Route[] {
  return [
    onRepository('POST', '/statuses/{sha}', 'statuses:write', 'write', create),
    onRepository('GET', '/commits/{ref}/statuses', 'statuses:read', 'read', call => {
      const { sha } = commitNamed(call.repo, call.params.ref ?? '')
      const found = call.repo.statuses.filter(status => status.sha === sha).reverse()
      return list(call, found, status => statusJson(call.world, call.repo, status))
    }),
  ]
}

function create(call: RepositoryCall) {
  const { repo, body, world } = call
  const sha = call.params.sha ?? ''
  if (!repo.store.commit(sha)) throw new HttpError(422, `No commit found for SHA: ${sha}`)
  const context = text(body, 'context') ?? 'default'
  const description = text(body, 'description') ?? null
  if (context.length > 255)
    throw new HttpError(422, 'Validation Failed: context is too long (maximum is 255 characters)')
  if ((description ?? '').length > 140) {
    throw new HttpError(422, 'Validation Failed: description is too long (maximum is 140 characters)')
  }
  const same = repo.statuses.filter(one => one.sha === sha && one.context.toLowerCase() === context.toLowerCase())
  if (same.length >= MOST_OF_A_CONTEXT) {
    throw new HttpError(422, 'Validation Failed: This SHA and context has reached the maximum number of statuses.')
  }
  const made = {
    ...{ id: world.nextId(), sha, context, description, at: now(), creator: senderOf(call.actor) },
    state: requiredText(body, 'state'),
    targetUrl: text(body, 'target_url') ?? null,
  }
  repo.statuses.push(made)
  return created(statusJson(world, repo, made))
}
