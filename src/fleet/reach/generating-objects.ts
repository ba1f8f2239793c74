import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { FleetNode, NotSeen } from '../fleet.ts'

const REASON = 'the Flux Operator makes objects from it on the cluster, which are not evaluated as Kustomizations'

/**
 * The ResourceSets of a fleet: what they template, Kustomizations of tenants among it, is made on the cluster, from inputs
 * that may come from elsewhere. Source: https://fluxoperator.dev/docs/crd/resourceset/
 */
export function generatingObjects(nodes: readonly FleetNode[]): NotSeen[] {
  const found = nodes.flatMap(({ objects }) => resourceSetsIn(objects))
  const ids = new Set(found.map(object => `ResourceSet/${idOf(object).namespace}/${idOf(object).name}`))
  return [...ids].sort().map(source => ({ source, url: '', reason: REASON, what: 'objects' }))
}

const known = new WeakMap<readonly KubeObject[], readonly KubeObject[]>()

function resourceSetsIn(objects: readonly KubeObject[]): readonly KubeObject[] {
  const found = known.get(objects) ?? objects.filter(isResourceSet)
  known.set(objects, found)
  return found
}

function isResourceSet(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return kind === 'ResourceSet' && groupOf(apiVersion) === 'fluxcd.controlplane.io'
}
