import { BailiwickError } from '../errors.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { idOf } from '../kube/object.ts'
import { type CustomKinds, isNamespace, neededRequests } from '../kube/rbac/apply-requests.ts'
import { confirmApply } from '../kube/rbac/confirm-apply.ts'
import { userInfo } from '../kube/rbac/groups-of.ts'
import type { ProvenKustomization } from './adoption.ts'

/**
 * Evaluates each request of Kustomizations with the RBAC that the fleet renders for their clusters. Throws `adopt-not-proven`
 * with the API server's own words for the first that is refused.
 */
export function prove(
  after: Fleet,
  keys: ReadonlySet<string>,
  customOf: (cluster: string) => CustomKinds,
  made: ReadonlySet<string>,
): ProvenKustomization[] {
  const index = new FleetIndex(after)
  return after.nodes
    .filter(node => keys.has(node.key))
    .map(node => proveNode(index, node, customOf(node.cluster), made))
}

function proveNode(
  index: FleetIndex,
  node: FleetNode,
  custom: CustomKinds,
  made: ReadonlySet<string>,
): ProvenKustomization {
  const { user: name } = node.identity
  const user = userInfo(name)
  const authorizer = index.authorizer(node.cluster)
  const { requests, unknown } = neededRequests(node, custom, made)
  if (unknown.length > 0) throw notProven(node, unknown.join('; '))
  for (const { request, about } of requests) {
    const decision = authorizer.authorize(user, request)
    if (!decision.allowed) throw notProven(node, `${about}: ${decision.message}`)
  }
  for (const object of node.objects) {
    const id = idOf(object)
    const change = isNamespace(id) && made.has(id.name) ? 'change' : 'add'
    const [refusal] = confirmApply(authorizer, user, object, change, custom)
    if (refusal) throw notProven(node, refusal.message)
  }
  return { key: node.key, user: name, objects: node.objects.length, requests: requests.length }
}

export function notProven(node: FleetNode, why: string): BailiwickError {
  return new BailiwickError('adopt-not-proven', `${node.key}: not proven that all of it is still applied: ${why}`, {
    fix: 'Add the CustomResourceDefinitions of its kinds to the fleet, or correct what is named, then run the command again.',
    origin: node.kustomization.root.origin,
  })
}
