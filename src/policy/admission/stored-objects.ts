import { at } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { resourceOf } from '../../kube/rbac/resource-name.ts'
import type { AdmissionWorld } from './admission-world.ts'

/** What a request for an object, or without a name for a list, asks the API server. */
export interface StoredQuery {
  readonly apiVersion: string
  readonly resource: string
  /** '' for all namespaces, or for what is in none. */
  readonly namespace: string
  readonly name: string
}

/** Kinds whose content on a cluster is what was applied: no controller and no defaults write it. */
const AS_APPLIED = [
  ...['/ConfigMap', '/Namespace', '/Secret', '/ServiceAccount', '/ResourceQuota', '/LimitRange'],
  ...['Role', 'RoleBinding', 'ClusterRoleBinding'].map(kind => `rbac.authorization.k8s.io/${kind}`),
  ...['networking.k8s.io/NetworkPolicy', 'networking.k8s.io/IngressClass', 'policy/PodDisruptionBudget'],
  ...['scheduling.k8s.io/PriorityClass', 'storage.k8s.io/StorageClass'],
]
const KINDS: ReadonlyMap<string, string> = new Map(
  AS_APPLIED.map(kind => {
    const [group = '', name = ''] = kind.split('/')
    return [`${group}/${resourceOf(`${group}/v1`, name, new Map())}`, kind]
  }),
)

/**
 * The objects that the API server would return, as far as the fleet shows them; a text: why that is not known. A list is never known:
 * a cluster may have objects that no fleet renders.
 */
export function storedObjects(world: AdmissionWorld, query: StoredQuery): readonly [KubeObject] | string {
  const { apiVersion, resource, namespace, name } = query
  if (name === '') return `it lists ${resource}, and the fleet does not show all ${resource} of a cluster`
  const kind = KINDS.get(`${groupOf(apiVersion)}/${resource}`)
  if (kind === undefined) return `it reads ${resource}, to which a cluster adds fields that the fleet does not show`
  const found = world.object(kind, kind === '/Namespace' ? '' : namespace, name)
  const named = [resource, namespace, name].filter(Boolean).join('/')
  if (!found || idOf(found).apiVersion !== apiVersion) return `${named} is not in the fleet`
  return at(found.root, ['metadata']) ? [found] : `${named} has no metadata`
}

/** The objects of a list that answer a query; of a name at most one. */
export function selectObjects(
  objects: readonly KubeObject[],
  { apiVersion, resource, namespace, name }: StoredQuery,
  resourceName: (apiVersion: string, kind: string) => string,
): KubeObject[] {
  return objects.filter(object => {
    const id = idOf(object)
    const isOfKind = id.apiVersion === apiVersion && resourceName(id.apiVersion, id.kind) === resource
    const own = id.namespace || 'default'
    return (
      isOfKind && (namespace === '' || own === namespace || id.namespace === '') && (name === '' || id.name === name)
    )
  })
}
