import { groupOf, idOf, type KubeObject } from '../object.ts'
import { type ApplyChange, apiPlaceOf, applyRequests, type CustomKinds } from './apply-requests.ts'
import type { Authorizer } from './authorizer.ts'
import type { Binding } from './binding.ts'
import { confirmWrite, type WriteRefusal } from './confirm-write.ts'
import type { ResourceRequest, UserInfo } from './request.ts'
import { resourceOf } from './resource-name.ts'

interface ApplyRefusal {
  /** The verb that is refused; for a role or binding that would grant too much the verb with which it is written. */
  readonly verb: string
  readonly reason: 'forbidden' | WriteRefusal['reason']
  /** The API server's own words. */
  readonly message: string
  /** Bindings of the user whose role is not known: they might allow it. */
  readonly unresolved: readonly Binding[]
}

/**
 * Why a user may not apply (or prune) an object as Flux does it: it reads the object, then sends a server-side apply, which
 * for a new one needs `create` with the name too; to prune it reads and deletes. Empty: nothing stands against it. The
 * refusals come in the order in which Flux would meet them.
 */
export function confirmApply(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  change: ApplyChange,
  custom: CustomKinds,
  before?: KubeObject,
): ApplyRefusal[] {
  const refusals: ApplyRefusal[] = []
  const written = change === 'remove' ? undefined : confirmWrite(authorizer, user, object, before)
  for (const request of requestsFor(object, change, custom)) {
    const { verb } = request
    // the storage of roles and bindings asks before the new object is
    if (written && verb === 'create') refusals.push({ verb, ...written, unresolved: [] })
    const decision = authorizer.authorize(user, request)
    if (decision.allowed) continue
    const { message, unresolved } = decision
    refusals.push({ verb, reason: 'forbidden', message, unresolved })
  }
  if (written && change === 'change') refusals.push({ verb: 'patch', ...written, unresolved: [] })
  return refusals
}

/** An object of a kind that the cluster does not define counts as one of a namespace. */
function requestsFor(object: KubeObject, change: ApplyChange, custom: CustomKinds): ResourceRequest[] {
  const id = idOf(object)
  const { apiVersion, kind, namespace } = id
  const known = apiPlaceOf(id, custom)
  const assumed = { apiGroup: groupOf(apiVersion), resource: resourceOf(apiVersion, kind, custom.plurals), namespace }
  return applyRequests(id, 'problem' in known ? assumed : known, change).map(({ request }) => request)
}
