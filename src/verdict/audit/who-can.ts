import { unseenOwners } from '../../fleet/facts/capsule.ts'
import { assumedText } from '../../fleet/facts/cluster-rights.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { unknownRole, unseenBinders } from '../../fleet/facts/grants.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { displayRbac } from '../../kube/rbac/binding.ts'
import {
  type AccessRequest,
  type ResourceRequest,
  ruleAllows,
  type UserInfo,
  userInfo,
} from '../../kube/rbac/policy-rule.ts'
import { type GrantView, grantView, ruleText } from './namespace-access.ts'

/** Who may do something on a cluster, as far as the fleet is visible. Plain JSON. */
export interface WhoCan {
  readonly cluster: string
  readonly allowed: readonly { readonly subject: string; readonly by: string }[]
  /** Kustomizations that are applied as one of them. */
  readonly appliedAs: readonly {
    readonly kustomization: string
    readonly repository: string
    readonly account: string
  }[]
  /** What may allow it to others, each in a sentence: roles and Kustomizations that could not be read. */
  readonly unknown: readonly string[]
  /** Kustomizations that may bind others, whose source is not visible. */
  readonly notVisible: readonly string[]
  /** Roles and bindings that the fleet does not render and every Flux has. */
  readonly assumed: readonly string[]
}

/** Every subject that may make a request on a cluster, the bindings that allow it, and the Kustomizations that are applied as that subject. Pure. */
export function whoCan(fleet: Fleet, index: FleetIndex, cluster: string, request: ResourceRequest): WhoCan {
  const authorizer = index.authorizer(cluster)
  const nodes = fleet.nodes.filter(node => node.cluster === cluster)
  const { namespace = '' } = request
  const bindings = [...new Set(['', namespace])].flatMap(place => authorizer.bindings.inNamespace(place))
  const unresolved = bindings.filter(({ roleRef, namespace: place }) => !authorizer.rulesOf(roleRef, place))
  const { failed, opaque } = unseenBinders(nodes, authorizer, namespace)
  return {
    cluster,
    allowed: bindings
      .filter(({ roleRef, namespace: place }) =>
        authorizer.rulesOf(roleRef, place)?.some(rule => ruleAllows(rule, request)),
      )
      .flatMap(binding =>
        binding.subjects.map(({ kind, name, namespace: place }) => ({
          subject: `${kind} ${kind === 'ServiceAccount' ? `${place}/${name}` : name}`,
          by: `${displayRbac(binding)}, ${binding.roleRef.kind} ${binding.roleRef.name}`,
        })),
      ),
    appliedAs: nodes
      .filter(({ identity }) => canI(fleet, index, cluster, userInfo(identity.user), request).answer === 'yes')
      .map(({ namespace: place, name, source, identity }) => ({
        kustomization: `${place}/${name}`,
        repository: source.url,
        account: identity.user,
      })),
    unknown: [
      ...unresolved.map(unknownRole),
      ...failed,
      ...new Set(unseenOwners(kind => index.platformAnywhere(cluster, kind), request).values()),
    ],
    notVisible: opaque,
    assumed: [assumedText(index.assumedRbac(cluster)) ?? []].flat(),
  }
}

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
  /** For a no: the sources that were not given, whose content could give rights there. */
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
