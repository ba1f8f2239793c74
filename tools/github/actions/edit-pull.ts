import { pullPayload } from '../events/payloads.ts'
import { invalid } from '../http/http-error.ts'
import { now, type Pull, type Repository, type User, type World } from '../world.ts'
import { changeText, type NewText } from './issue.ts'
import { recordEvent } from './issue-event.ts'
import { scheduleMergeability } from './mergeability.ts'

/** Changes title, body and base of a pull request; one `edited` event tells of all. Throws 422. */
export function editPull(
  world: World,
  repository: Repository,
  pull: Pull,
  wanted: NewText & { readonly base?: string | undefined },
  by: User,
): void {
  const { base } = wanted
  const moved = base !== undefined && base !== pull.base.ref ? retarget(world, repository, pull, base) : undefined
  const changes = { ...(moved ? { base: moved } : {}), ...changeText(pull.issue, wanted) }
  if (Object.keys(changes).length === 0) return
  pull.issue.updatedAt = now()
  if (moved) recordEvent(world, pull.issue, 'base_ref_changed', by)
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'edited', pull, { changes }))
}

function retarget(world: World, repository: Repository, pull: Pull, base: string) {
  const sha = repository.refs.get(`refs/heads/${base}`)
  if (sha === undefined) throw invalid('PullRequest', 'base')
  const from = { ref: { from: pull.base.ref }, sha: { from: pull.base.sha } }
  pull.base.ref = base
  pull.base.sha = sha
  scheduleMergeability(world, repository, pull)
  return from
}

/** Ends or begins the draft; GitHub offers it in GraphQL only. Nothing happens when it is so already. */
export function setDraft(world: World, repository: Repository, pull: Pull, draft: boolean, by: User): void {
  if (pull.draft === draft) return
  pull.draft = draft
  pull.issue.updatedAt = now()
  recordEvent(world, pull.issue, draft ? 'convert_to_draft' : 'ready_for_review', by)
  const action = draft ? 'converted_to_draft' : 'ready_for_review'
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, action, pull))
}
