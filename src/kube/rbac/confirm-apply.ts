import { groupOf, idOf, type KubeObject } from '../object.ts'
import { type CustomScopes, scopeOf } from '../scope/scope.ts'
import type { Authorizer } from './authorizer.ts'
import type { Binding } from './binding.ts'
import { confirmWrite, type WriteRefusal } from './confirm-write.ts'
import type { ResourceRequest, UserInfo } from './request.ts'
import { type CustomPlurals, resourceOf } from './resource-name.ts'

/** What becomes of an object: it appears, it is written again, or it is pruned. */
export type ApplyChange = 'add' | 'change' | 'remove'

/** What a cluster's definitions say about its custom kinds. */
interface CustomKinds {
  readonly scopes: CustomScopes
  readonly plurals: CustomPlurals
}

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
  for (const request of requestsFor(object, change, custom)) {
    const decision = authorizer.authorize(user, request)
    if (decision.allowed) continue
    const { message, unresolved } = decision
    refusals.push({ verb: request.verb, reason: 'forbidden', message, unresolved })
  }
  if (change === 'remove') return refusals
  const refusal = confirmWrite(authorizer, user, object, { before })
  if (refusal) refusals.push({ verb: change === 'add' ? 'create' : 'patch', ...refusal, unresolved: [] })
  return refusals
}

/**
 * The requests by which Flux applies or prunes an object (fluxcd/pkg ssa). One Namespace is read, patched and deleted in
 * itself for RBAC, so a RoleBinding inside it is enough; made it is in the cluster.
 */
function requestsFor(object: KubeObject, change: ApplyChange, custom: CustomKinds): ResourceRequest[] {
  const { apiVersion, kind, namespace: written, name } = idOf(object)
  const apiGroup = groupOf(apiVersion)
  const resource = resourceOf(apiVersion, kind, custom.plurals)
  const own = scopeOf(apiVersion, kind, custom.scopes) === 'Cluster' ? '' : written
  const verbs =
    change === 'add' ? ['get', 'patch', 'create'] : change === 'change' ? ['get', 'patch'] : ['get', 'delete']
  return verbs.map(verb => {
    const namespace = apiGroup === '' && kind === 'Namespace' && verb !== 'create' ? name : own
    return { verb, apiGroup, resource, namespace, name }
  })
}
