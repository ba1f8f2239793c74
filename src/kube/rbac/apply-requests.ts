import { type CustomScopes, scopeOf } from '../capabilities/scope.ts'
import { at, isTrue, itemsOf, type Node, stringAt } from '../node.ts'
import { display, groupOf, idOf, type KubeObject, type ObjectId } from '../object.ts'
import type { Authorizer } from './authorizer.ts'
import { type Binding, RBAC_GROUP, readBinding, readRole } from './binding.ts'
import { confirmWrite, type WriteRefusal } from './confirm-write.ts'
import type { ResourceRequest, UserInfo } from './policy-rule.ts'
import { type CustomPlurals, resourceOf } from './resources.ts'

/** What the CustomResourceDefinitions of a cluster say about its custom kinds. */
export interface CustomKinds {
  readonly scopes: CustomScopes
  readonly plurals: CustomPlurals
}

/** What becomes of an object: it appears, it is written again, or it is pruned. */
export type ApplyChange = 'add' | 'change' | 'remove'

/**
 * What happens where a request is refused. `not-applied`: nothing of the stage. `rewritten`: Flux writes the object at each
 * reconcile, also where `ssa: IfNotPresent` forbids it. `not-ready`: the health check times out. `not-pruned`: the object stays.
 * `not-recreated`: a change of a field that cannot change fails.
 */
export type WithoutRight = 'not-applied' | 'rewritten' | 'not-ready' | 'not-pruned' | 'not-recreated' | 'no-effect'

/** A request that Flux or the worker sends as the account of a Kustomization, and the object that it is about. */
export interface AccountRequest {
  readonly request: ResourceRequest
  readonly without: WithoutRight
  /** `Deployment apps/web`. */
  readonly about: string
}

/** Where the API server has an object. */
interface ApiPlace {
  readonly apiGroup: string
  readonly resource: string
  /** '' for an object of the whole cluster. */
  readonly namespace: string
}

/** Where the API server has an object; a problem where that would be a guess. */
export function apiPlaceOf(id: ObjectId, custom: CustomKinds): ApiPlace | { readonly problem: string } {
  const { apiVersion, kind, namespace } = id
  const scope = scopeOf(apiVersion, kind, custom.scopes)
  if (scope === undefined) {
    return { problem: `${display(id)}: the fleet has no CustomResourceDefinition of ${kind} (${apiVersion})` }
  }
  if (scope === 'Namespaced' && namespace === '') return { problem: `${display(id)}: it names no namespace` }
  const resource = resourceOf(apiVersion, kind, custom.plurals)
  return { apiGroup: groupOf(apiVersion), resource, namespace: scope === 'Cluster' ? '' : namespace }
}

const VERBS: Readonly<Record<ApplyChange, readonly (readonly [verb: string, without: WithoutRight])[]>> = {
  add: [
    ['get', 'rewritten'],
    ['patch', 'not-applied'],
    ['create', 'not-applied'],
  ],
  change: [
    ['get', 'rewritten'],
    ['patch', 'not-applied'],
  ],
  remove: [
    ['get', 'not-pruned'],
    ['delete', 'not-pruned'],
  ],
}

/**
 * The requests by which Flux applies or prunes an object, in their order (fluxcd/pkg ssa): a server-side apply, which for a
 * new object needs `create` with the name too. A request for one Namespace is a request inside it for RBAC, so a Role there is
 * enough, also where it is new.
 */
export function applyRequests(id: ObjectId, place: ApiPlace, change: ApplyChange): AccountRequest[] {
  return VERBS[change].map(([verb, without]) => {
    const namespace = isNamespace(id) ? id.name : place.namespace
    return { request: { verb, ...place, namespace, name: id.name }, without, about: display(id) }
  })
}

/** Kinds whose status Flux works out from other objects that it lists (fluxcd/cli-utils kstatus/polling/statusreaders). */
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

/** What a health check of an object lists. */
export function healthRequests(id: ObjectId, namespace: string): AccountRequest[] {
  const listed = LISTED.get(`${groupOf(id.apiVersion)}/${id.kind}`) ?? []
  return listed.map(([apiGroup, resource]) => ({
    request: { verb: 'list', apiGroup, resource, namespace, name: '' },
    // a Deployment's status follows its ReplicaSets; its Pods only improve the message (measured)
    without: id.kind === 'Deployment' && resource === 'pods' ? 'no-effect' : 'not-ready',
    about: display(id),
  }))
}

/** What is applied as one account. */
interface AppliedObjects {
  readonly kustomization: KubeObject
  readonly prune: boolean
  readonly objects: readonly KubeObject[]
}

/** The requests of one Kustomization, and the objects for which they cannot be derived. */
interface NeededRequests {
  readonly requests: readonly AccountRequest[]
  /** Each in a sentence. */
  readonly unknown: readonly string[]
}

/**
 * Everything that Flux's kustomize-controller, or the worker, asks the API server for as the account of a Kustomization: the
 * requests of `applyRequests`, `delete` where it prunes or recreates objects, and what its health checks read. Sources,
 * dependencies, variables and keys are read by the controller itself. `made`: namespaces that exist before it.
 */
export function neededRequests(
  { kustomization, prune, objects }: AppliedObjects,
  custom: CustomKinds,
  made: ReadonlySet<string> = new Set(),
): NeededRequests {
  const requests: AccountRequest[] = []
  const unknown: string[] = []
  const isWaiting = waits(kustomization)
  for (const object of objects) {
    const id = idOf(object)
    const place = apiPlaceOf(id, custom)
    if ('problem' in place) {
      unknown.push(place.problem)
      continue
    }
    const isMade = isNamespace(id) && made.has(id.name)
    const own = [
      ...applyRequests(id, place, isMade ? 'change' : 'add'),
      ...(prune ? applyRequests(id, place, 'remove').slice(1) : forceRequests(kustomization, object, place)),
    ]
    // a Role in a Namespace that is not there yet would have no place
    requests.push(...own.map(one => ({ ...one, request: { ...one.request, namespace: place.namespace } })))
    if (isWaiting) requests.push(...healthRequests(id, place.namespace))
  }
  const checks = healthCheckRequests(kustomization, custom)
  return { requests: [...requests, ...checks.requests], unknown: [...unknown, ...checks.unknown] }
}

/** Whether Flux waits until everything that a Kustomization applies is ready. */
export const waits = ({ root }: KubeObject): boolean => isTrue(at(root, ['spec', 'wait']))

/** What `spec.healthChecks` names: also objects that something else makes. */
function healthChecks(root: Node): ObjectId[] {
  return itemsOf(at(root, ['spec', 'healthChecks'])).map(item => ({
    apiVersion: stringAt(item, ['apiVersion']) ?? '',
    kind: stringAt(item, ['kind']) ?? '',
    namespace: stringAt(item, ['namespace']) ?? '',
    name: stringAt(item, ['name']) ?? '',
  }))
}

/** What Flux reads for `spec.healthChecks`, which counts where `spec.wait` is not set. */
export function healthCheckRequests(kustomization: KubeObject, custom: CustomKinds): NeededRequests {
  const requests: AccountRequest[] = []
  const unknown: string[] = []
  for (const id of waits(kustomization) ? [] : healthChecks(kustomization.root)) {
    const place = apiPlaceOf(id, custom)
    if ('problem' in place) {
      unknown.push(`spec.healthChecks: ${place.problem}`)
      continue
    }
    const about = `health check of ${display(id)}`
    requests.push({ request: { verb: 'get', ...place, name: id.name }, without: 'not-ready', about })
    requests.push(...healthRequests(id, place.namespace))
  }
  return { requests, unknown }
}

/** Whether an object is a Namespace of Kubernetes. */
export const isNamespace = ({ apiVersion, kind }: ObjectId): boolean => apiVersion === 'v1' && kind === 'Namespace'

/** What Flux sends besides for an object that it deletes where it cannot be changed: by `spec.force`, or marked so. */
export function forceRequests(kustomization: KubeObject, object: KubeObject, place: ApiPlace): AccountRequest[] {
  const marks = ['annotations', 'labels'].map(field => {
    return stringAt(object.root, ['metadata', field, 'kustomize.toolkit.fluxcd.io/force'])?.toLowerCase()
  })
  if (!isTrue(at(kustomization.root, ['spec', 'force'])) && !marks.includes('enabled')) return []
  const [, remove] = applyRequests(idOf(object), place, 'remove')
  return [{ ...remove!, without: 'not-recreated' }]
}

interface ApplyRefusal {
  /** The verb that is refused; for a role or binding that would grant too much the verb with which it is written. */
  readonly verb: string
  readonly reason: 'forbidden' | WriteRefusal['reason']
  /** The API server's own words. */
  readonly message: string
  /** Bindings of the user whose role is not known: they might allow it. */
  readonly unresolved: readonly Binding[]
}

/**
 * Why a user may not apply (or prune) an object as Flux does it: it reads the object, then sends a server-side apply, which
 * for a new one needs `create` with the name too; to prune it reads and deletes. Empty: nothing stands against it. The
 * refusals come in the order in which Flux would meet them.
 */
export function confirmApply(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  change: ApplyChange,
  custom: CustomKinds,
  before?: KubeObject,
): ApplyRefusal[] {
  const refusals: ApplyRefusal[] = []
  const written = change === 'remove' ? undefined : confirmWrite(authorizer, user, object, before)
  for (const request of requestsFor(object, change, custom)) {
    const { verb } = request
    // the storage of roles and bindings asks before the new object is
    if (written && verb === 'create') refusals.push({ verb, ...written, unresolved: [] })
    const decision = authorizer.authorize(user, request)
    if (decision.allowed) continue
    const { message, unresolved } = decision
    refusals.push({ verb, reason: 'forbidden', message, unresolved })
  }
  if (written && change === 'change') refusals.push({ verb: 'patch', ...written, unresolved: [] })
  return refusals
}

/** An object of a kind that the cluster does not define counts as one of a namespace. */
function requestsFor(object: KubeObject, change: ApplyChange, custom: CustomKinds): ResourceRequest[] {
  const id = idOf(object)
  const { apiVersion, kind, namespace } = id
  const known = apiPlaceOf(id, custom)
  const assumed = { apiGroup: groupOf(apiVersion), resource: resourceOf(apiVersion, kind, custom.plurals), namespace }
  return applyRequests(id, 'problem' in known ? assumed : known, change).map(({ request }) => request)
}

/**
 * What an account needs besides to write the roles and bindings of a Kustomization: `escalate` for a role that holds more
 * than the account, `bind` for a role that is bound and holds more, or that is not there when the binding is tried first
 * (Kubernetes: RBAC, privilege escalation prevention).
 */
export function grantingRequests(
  authorizer: Authorizer,
  user: UserInfo,
  { objects }: Pick<AppliedObjects, 'objects'>,
): AccountRequest[] {
  const needed: AccountRequest[] = []
  const own = new Set(objects.map(object => display(idOf(object))))
  for (const object of objects) {
    const about = display(idOf(object))
    const refusal = confirmWrite(authorizer, user, object)
    const isRefused = refusal?.reason === 'escalation' || refusal?.reason === 'missing-role'
    const role = readRole(object)
    const binding = readBinding(object)
    // on an empty cluster Flux tries the binding in the same dry run as its Role, which is not there yet
    const isNew = binding?.roleRef.kind === 'Role' && own.has(`Role ${binding.namespace}/${binding.roleRef.name}`)
    if (!isRefused && !isNew) continue
    const [verb, of] = role
      ? ['escalate', role]
      : ['bind', binding && { ...binding.roleRef, namespace: binding.namespace }]
    if (!of) continue
    const resource = of.kind === 'Role' ? 'roles' : 'clusterroles'
    const request = { verb, apiGroup: RBAC_GROUP, resource, namespace: of.namespace, name: of.name }
    needed.push({ request, without: 'not-applied', about })
  }
  return needed
}
