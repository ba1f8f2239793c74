import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { canonical, type MapNode } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import type { Placed } from './belongings.ts'

/** The expected effect of an owner change on a fleet. */
export interface OwnerChange {
  /** The objects that replace an object: itself, another one, or several. */
  readonly becomes: (placed: Placed) => readonly MapNode[]
  /** The new owner of a cluster's namespace, given its current owner. */
  readonly ownerOf: (cluster: string, namespace: string, owner: string) => string
  /** The account that a Kustomization will use. */
  readonly userOf: (node: FleetNode) => string
}

/** Why `after` is not exactly this change of `before`, compared object by object; undefined if it is. */
export function compareChanged(before: Fleet, after: Fleet, change: OwnerChange): string | undefined {
  return compareOwners(before, after, change) ?? compareNodes(before, after, change)
}

function compareOwners(before: Fleet, after: Fleet, { ownerOf }: OwnerChange): string | undefined {
  for (const { name, owners = new Map<string, string>() } of before.clusters) {
    const now = after.clusters.find(one => one.name === name)?.owners ?? new Map<string, string>()
    for (const namespace of new Set([...owners.keys(), ...now.keys()])) {
      const was = owners.get(namespace)
      const [wanted, is] = [was && ownerOf(name, namespace, was), now.get(namespace)]
      if (wanted !== is) return `the namespace ${namespace} on ${name} would belong to ${is ?? 'the platform'}`
    }
  }
  return undefined
}

function compareNodes(before: Fleet, after: Fleet, change: OwnerChange): string | undefined {
  const now = new Map(after.nodes.map(node => [node.key, node]))
  for (const node of before.nodes) {
    const other = now.get(node.key)
    now.delete(node.key)
    if (!other) return `the Kustomization ${node.key} would be gone`
    const tenant = node.tenant && change.ownerOf(node.cluster, node.namespace, node.tenant)
    if (other.tenant !== tenant) return `the Kustomization ${node.key} would be of ${other.tenant ?? 'the platform'}`
    if (other.identity.user !== change.userOf(node)) {
      return `the Kustomization ${node.key} would act as ${other.identity.user}`
    }
    const problem = compareObjects(node, other, change)
    if (problem !== undefined) return problem
  }
  const [stray] = now.keys()
  return stray && `the Kustomization ${stray} would be new`
}

function compareObjects(before: FleetNode, after: FleetNode, { becomes }: OwnerChange): string | undefined {
  if (after.error?.message !== before.error?.message) return `${before.key} would fail: ${after.error?.message}`
  if ((after.holes ?? []).length > (before.holes ?? []).length) {
    return `${before.key} would not build as a whole: ${after.holes![0]!.error.message}`
  }
  const wanted = before.objects.flatMap(object => becomes({ node: before, object }))
  const now = new Map(after.objects.map(({ root }) => [keyOf(root), root]))
  for (const root of wanted) {
    const name = `${display(idOf({ root, trail: [] }))} on ${before.cluster}`
    const other = now.get(keyOf(root))
    now.delete(keyOf(root))
    if (!other) return `${name} would not be there`
    if (canonical(other) !== canonical(root)) return `${name} would be different`
  }
  const [stray] = now.values()
  return stray && `${display(idOf({ root: stray, trail: [] }))} on ${before.cluster} would be new`
}

const keyOf = (root: KubeObject['root']) => JSON.stringify(idOf({ root, trail: [] }))
