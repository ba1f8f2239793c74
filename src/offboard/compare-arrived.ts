import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { canonical } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'

/** What comes to a cluster. */
interface Arrival {
  readonly tenant: string
  readonly to: string
  /** By key of the node that is to render them. */
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>
  /** The tenant's nodes as they are on the first cluster, by the key that they are to have. */
  readonly nodes: ReadonlyMap<string, FleetNode>
  /** Namespaces that are to be the tenant's. */
  readonly namespaces: readonly string[]
}

/**
 * What is wrong with `after` as the arrival of a tenant in `before`; undefined where exactly that has come, as it is on the
 * first cluster, and everything else renders as before.
 */
export function compareArrived(before: Fleet, after: Fleet, arrival: Arrival): string | undefined {
  const old = new Map(before.nodes.map(node => [node.key, node]))
  const now = new Map(after.nodes.map(node => [node.key, node]))
  for (const node of before.nodes) {
    const other = now.get(node.key)
    if (!other) return `the Kustomization ${node.key} would be gone`
    const problem = compareNode(node, other, arrival.objects.get(node.key) ?? [])
    if (problem !== undefined) return problem
  }
  for (const [key, wanted] of arrival.nodes) {
    const node = now.get(key)
    if (!node) return `the Kustomization ${key} would not be there`
    if (
      node.identity.user !== wanted.identity.user ||
      node.source.url !== wanted.source.url ||
      node.tenant !== arrival.tenant
    )
      return `the Kustomization ${key} would have another account, source or tenant`
  }
  const stray = after.nodes.find(({ key }) => !old.has(key) && !arrival.nodes.has(key))
  if (stray) return `the Kustomization ${stray.key} would be new`
  const owners = after.clusters.find(({ name }) => name === arrival.to)?.owners
  const lost = arrival.namespaces.find(namespace => owners?.get(namespace) !== arrival.tenant)
  return lost === undefined ? undefined : `the namespace ${lost} on ${arrival.to} would not be the tenant's`
}

function compareNode(before: FleetNode, after: FleetNode, coming: readonly KubeObject[]): string | undefined {
  if (after.error?.message !== before.error?.message) return `${before.key} would fail: ${after.error?.message}`
  if ((after.holes ?? []).length > (before.holes ?? []).length) {
    return `${before.key} would not build as a whole: ${after.holes![0]!.error.message}`
  }
  const now = new Map(after.objects.map(object => [keyOf(object), object]))
  for (const object of [...before.objects, ...coming]) {
    const name = `${display(idOf(object))} on ${after.cluster}`
    const other = now.get(keyOf(object))
    now.delete(keyOf(object))
    if (!other) return `${name} would not be there`
    if (canonical(other.root) !== canonical(object.root)) return `${name} would be different`
  }
  const [stray] = now.values()
  return stray && `${display(idOf(stray))} on ${after.cluster} would be new`
}

const keyOf = (object: KubeObject) => JSON.stringify(idOf(object))
