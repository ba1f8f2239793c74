import type { FleetIndex } from '../facts/fleet-index.ts'
import { unknownRole, unseenBinders } from '../facts/unseen-grants.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { AccessRequest, UserInfo } from '../kube/rbac/request.ts'
import { type GrantView, grantView, ruleText } from './grant-view.ts'

/** Whether one cluster allows a user to do something, and why. */
export interface CanIAnswer {
  readonly cluster: string
  /** `unknown`: nothing that is known allows it, but a role of the user, or what could bind the user, cannot be read. */
  readonly answer: 'yes' | 'no' | 'unknown'
  /** Of a yes: what allows it, and the rule that does. */
  readonly allowedBy?: GrantView & { readonly rule: string }
  /** Of the others: the API server's own words. */
  readonly message?: string
  /** Of `unknown`: why, each in a sentence. */
  readonly reasons: readonly string[]
  /** Of a no: the sources that nobody gave, whose content could give rights there. */
  readonly notSeen: readonly string[]
}

/**
 * Evaluates a request against the RBAC that the fleet renders for a cluster. A yes is certain, because RBAC only adds
 * rights; a no holds only for what is visible, and lists what is not.
 */
export function canI(
  fleet: Fleet,
  index: FleetIndex,
  cluster: string,
  user: UserInfo,
  request: AccessRequest,
): CanIAnswer {
  const authorizer = index.authorizer(cluster)
  const decision = authorizer.authorize(user, request)
  const unapplied =
    decision.allowed && !('nonResourceURL' in request) ? index.onlyUnapplied(cluster, user, request) : undefined
  if (unapplied) return { cluster, answer: 'unknown', ...unapplied, notSeen: [] }
  if (decision.allowed) {
    const allowedBy = { ...grantView(index, cluster, decision.grant), rule: ruleText(decision.grant) }
    return { cluster, answer: 'yes', allowedBy, reasons: [], notSeen: [] }
  }
  const isPath = 'nonResourceURL' in request
  const namespace = isPath ? '' : (request.namespace ?? '')
  const { opaque } = unseenBinders(
    fleet.nodes.filter(node => node.cluster === cluster),
    authorizer,
    namespace,
  )
  const reasons = isPath ? decision.unresolved.map(unknownRole) : index.unseenGrants(cluster, user, request)
  return { cluster, answer: reasons.length > 0 ? 'unknown' : 'no', message: decision.message, reasons, notSeen: opaque }
}
