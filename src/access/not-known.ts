import { shownObject } from '../facts/shown.ts'
import type { FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { CONTROLLER } from '../fleet/tenancy/identity.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { type Binding, RBAC_GROUP } from '../kube/rbac/binding.ts'
import { userInfo } from '../kube/rbac/groups-of.ts'

/** Explains why the rights of a binding's role are unknown. */
export function unknownRole({ kind, namespace, name, roleRef }: Binding): string {
  const role = shownObject(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
  return `${shownObject(kind, namespace, name)} refers to ${role}, which the fleet does not render, so its rights are unknown`
}

/** What could bind someone, and was not seen: each in a sentence. */
interface Unseen {
  /** Kustomizations that cannot be rendered. */
  readonly failed: readonly string[]
  /** Kustomizations whose source was not given. */
  readonly opaque: readonly string[]
}

/**
 * Describes the Kustomizations among `nodes` that could grant rights in a namespace ('': in the whole cluster) but are
 * not visible.
 */
export function unseenBinders(nodes: Iterable<FleetNode>, authorizer: Authorizer, namespace: string): Unseen {
  const failed: string[] = []
  const opaque: string[] = []
  for (const node of nodes) {
    const reason = node.source.opaque ?? whyIncomplete(node)?.message
    if (reason === undefined || !mayBind(node, authorizer, namespace)) continue
    const name = shownObject('Kustomization', node.namespace, node.name)
    const list = node.source.opaque === undefined ? failed : opaque
    list.push(`${name} can grant rights ${namespace ? 'there' : 'in the cluster'}, but is not visible: ${reason}`)
  }
  return { failed, opaque }
}

function mayBind({ identity }: FleetNode, authorizer: Authorizer, namespace: string): boolean {
  if (!identity.impersonated || identity.user === CONTROLLER.user) return true
  const user = userInfo(identity.user)
  const may = (resource: string, where: string) =>
    authorizer.allows(user, { verb: 'create', apiGroup: RBAC_GROUP, resource, namespace: where, name: '' })
  return may('clusterrolebindings', '') || (namespace !== '' && may('rolebindings', namespace))
}
