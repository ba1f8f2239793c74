import type { FleetNode } from '../fleet/model/fleet.ts'
import { at, type Node, stringAt } from '../kube/node.ts'
import { display, groupOf, idOf, type KubeObject, type ObjectId } from '../kube/object.ts'
import type { ResourceRequest } from '../kube/rbac/request.ts'
import { type CustomPlurals, resourceOf } from '../kube/rbac/resource-name.ts'
import { type CustomScopes, scopeOf } from '../kube/scope/scope.ts'

/** What the CustomResourceDefinitions of a fleet say about its custom kinds. */
export interface CustomKinds {
  readonly scopes: CustomScopes
  readonly plurals: CustomPlurals
}

/** A request that Flux or the worker sends as the account of a Kustomization, and the object that it is about. */
export interface NeededRequest {
  readonly request: ResourceRequest
  /** `Deployment apps/web`. */
  readonly about: string
}

/** The requests of one Kustomization, and the objects for which they cannot be told. */
interface NeededRequests {
  readonly requests: readonly NeededRequest[]
  /** Each in a sentence. */
  readonly unknown: readonly string[]
}

/**
 * Everything that Flux's kustomize-controller, or the worker, asks the API server for as the account of a Kustomization: `get`
 * and `patch` for each object, `create` where it does not exist yet, `delete` where the Kustomization prunes or recreates
 * objects (fluxcd/pkg ssa), and what its health checks read (fluxcd/cli-utils kstatus/polling): a Deployment is watched with
 * its ReplicaSets and Pods. Sources, dependencies, variables and keys are read by the controller itself. `made`: namespaces
 * that another Kustomization makes before this one.
 */
export function neededRequests(
  node: FleetNode,
  custom: CustomKinds,
  made: ReadonlySet<string> = new Set(),
): NeededRequests {
  const requests: NeededRequest[] = []
  const unknown: string[] = []
  const spec = node.kustomization.root
  const waits = isTrue(at(spec, ['spec', 'wait']))
  const deletes = node.prune || isTrue(at(spec, ['spec', 'force']))
  for (const object of node.objects) {
    const id = idOf(object)
    const place = placeOf(id, custom)
    if ('problem' in place) {
      unknown.push(place.problem)
      continue
    }
    const isMade = isNamespace(id) && made.has(id.name)
    const verbs = ['get', 'patch', ...(isMade ? [] : ['create']), ...(deletes || isForced(object) ? ['delete'] : [])]
    for (const verb of verbs) requests.push({ request: { verb, ...place, name: id.name }, about: display(id) })
    if (waits) requests.push(...generated(id, place.namespace))
  }
  if (!waits) for (const id of healthChecks(spec)) addHealthCheck(id, custom, requests, unknown)
  return { requests, unknown }
}

interface Place {
  readonly apiGroup: string
  readonly resource: string
  /** '' for an object of the whole cluster. */
  readonly namespace: string
}

/** Where the API server has an object; a problem where that would be a guess. */
function placeOf(id: ObjectId, custom: CustomKinds): Place | { readonly problem: string } {
  const { apiVersion, kind, namespace } = id
  const scope = scopeOf(apiVersion, kind, custom.scopes)
  if (scope === undefined) {
    return { problem: `${display(id)}: the fleet has no CustomResourceDefinition of ${kind} (${apiVersion})` }
  }
  if (scope === 'Namespaced' && namespace === '') return { problem: `${display(id)}: it names no namespace` }
  const resource = resourceOf(apiVersion, kind, custom.plurals)
  return { apiGroup: groupOf(apiVersion), resource, namespace: scope === 'Cluster' ? '' : namespace }
}

/** Kinds whose status Flux works out from other objects that it lists. */
const LISTED: ReadonlyMap<string, readonly (readonly [group: string, resource: string])[]> = new Map([
  [
    'apps/Deployment',
    [
      ['apps', 'replicasets'],
      ['', 'pods'],
    ],
  ],
  ['apps/ReplicaSet', [['', 'pods']]],
  ['apps/StatefulSet', [['', 'pods']]],
])

function generated(id: ObjectId, namespace: string): NeededRequest[] {
  const listed = LISTED.get(`${groupOf(id.apiVersion)}/${id.kind}`) ?? []
  return listed.map(([apiGroup, resource]) => ({
    request: { verb: 'list', apiGroup, resource, namespace, name: '' },
    about: display(id),
  }))
}

/** What `spec.healthChecks` names: also objects that something else makes. */
function healthChecks(root: Node): ObjectId[] {
  const list = at(root, ['spec', 'healthChecks'])
  return (list?.type === 'list' ? list.items : []).map(item => ({
    apiVersion: stringAt(item, ['apiVersion']) ?? '',
    kind: stringAt(item, ['kind']) ?? '',
    namespace: stringAt(item, ['namespace']) ?? '',
    name: stringAt(item, ['name']) ?? '',
  }))
}

function addHealthCheck(id: ObjectId, custom: CustomKinds, requests: NeededRequest[], unknown: string[]): void {
  const place = placeOf(id, custom)
  if ('problem' in place) {
    unknown.push(`spec.healthChecks: ${place.problem}`)
    return
  }
  requests.push({ request: { verb: 'get', ...place, name: id.name }, about: `health check of ${display(id)}` })
  requests.push(...generated(id, place.namespace))
}

/** Whether an object is a Namespace of Kubernetes. */
export const isNamespace = ({ apiVersion, kind }: ObjectId): boolean => apiVersion === 'v1' && kind === 'Namespace'

const isTrue = (node: Node | undefined) => node?.type === 'scalar' && node.value === true

/** `kustomize.toolkit.fluxcd.io/force: enabled`: Flux deletes it where it cannot be changed. */
function isForced({ root }: KubeObject): boolean {
  return ['annotations', 'labels'].some(field => {
    const value = stringAt(root, ['metadata', field, 'kustomize.toolkit.fluxcd.io/force'])
    return value?.toLowerCase() === 'enabled'
  })
}
