import type { Cluster } from '../fleet/model/fleet.ts'
import { nodeOf } from '../fleet/model/synthetic.ts'
import { installedRbac, isInstalledRbac, type Manifest, OPERATOR_RBAC } from '../flux/installed-rbac.ts'
import type { MapNode } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'

const NOWHERE = { repository: '', file: '', line: 1, column: 1 }
/** By the manifests, so that their roles are read once for all clusters. */
const OBJECTS = new WeakMap<readonly object[], readonly KubeObject[]>()

/**
 * Flux's own roles and bindings on a cluster, as far as the fleet does not render them: what Flux installs, with the fleet's
 * patches. Where the Deployments of Flux are rendered with any of these, those are all. `rendered`: the platform's
 * ClusterRoles and ClusterRoleBindings. Where a FluxInstance is, the roles and the binding of flux-operator count too.
 */
export function assumedRbac(
  cluster: Pick<Cluster, 'hub' | 'lockdown'> | undefined,
  rendered: readonly KubeObject[],
): readonly KubeObject[] {
  // the Flux of another cluster applies there
  if (!cluster || cluster.hub !== undefined) return []
  const { flux } = cluster.lockdown
  const names = new Set(rendered.map(keyOf).filter(key => key !== undefined))
  if (flux?.from === 'deployments' && names.size > 0) return []
  const manifests = flux?.rbac ?? installedRbac(flux?.version)
  const own = flux?.from === 'flux-instance' ? objectsOf(OPERATOR_RBAC) : []
  const isRendered = (object: KubeObject) => rendered.some(one => idOf(one).name === idOf(object).name)
  return [
    ...objectsOf(manifests).filter(object => !names.has(keyOf(object)!)),
    ...own.filter(object => !isRendered(object)),
  ]
}

function objectsOf(manifests: readonly Manifest[]): readonly KubeObject[] {
  const objects = OBJECTS.get(manifests) ?? manifests.map(one => ({ root: nodeOf(one, NOWHERE) as MapNode, trail: [] }))
  OBJECTS.set(manifests, objects)
  return objects
}

/** Says once what is assumed on a cluster; undefined where that is nothing. */
export function assumedText(objects: readonly KubeObject[]): string | undefined {
  const names = [...new Set(objects.map(object => idOf(object).name))].sort().join(', ')
  if (names === '') return undefined
  return `ClusterRoles and ClusterRoleBindings of Flux are not rendered; assumed as Flux installs them: ${names}`
}

function keyOf(object: KubeObject): string | undefined {
  const { kind, name } = idOf(object)
  return isInstalledRbac(kind, name) ? `${kind} ${name}` : undefined
}
