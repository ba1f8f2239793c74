import { assumedText } from '../facts/assumed-rbac.ts'
import { unseenOwners } from '../facts/capsule-namespaces.ts'
import type { FleetIndex } from '../facts/fleet-index.ts'
import { unknownRole, unseenBinders } from '../facts/unseen-grants.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { displayRbac } from '../kube/rbac/binding.ts'
import { userInfo } from '../kube/rbac/groups-of.ts'
import type { ResourceRequest } from '../kube/rbac/request.ts'
import { ruleAllows } from '../kube/rbac/rule-allows.ts'
import { canI } from './can-i.ts'

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
