import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { Authorize } from '../../expr/libraries/authorizer.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { isPlatform } from '../../fleet/facts/object-index.ts'
import { at, type Json, type Path } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import type { UserInfo } from '../../kube/rbac/policy-rule.ts'
import { resourceOf } from '../../kube/rbac/resources.ts'

/** The name of a policy, and of one of its rules; '' where its rules have no names. */
export interface PolicyRuleName {
  readonly policy: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly rule: string
}

/** A policy whose answer is not known. */
export interface NotEvaluated extends PolicyRuleName {
  readonly origin: Origin
  readonly why: string
}

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** A request to the API server as admission sees it, as far as a fleet shows it. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation
  /** The object, of a deletion the one that is deleted. */
  readonly object: KubeObject
  readonly id: ObjectId
  /** What the object was before, where the operation has one. */
  readonly old?: KubeObject
  /** Who asks, with the groups that the API server derives. */
  readonly user: UserInfo
  /** The plural, as in a URL. */
  readonly resource: string
  readonly isNamespaced: boolean
  /** Of a request for a subresource, the kind that has it. Flux sends none, a policy test may. */
  readonly parent?: { readonly apiVersion: string; readonly kind: string; readonly subresource: string }
  /** Called for each rule that applies to the request and passes. */
  readonly passed?: (rule: PolicyRuleName) => void
}

/** What one rule of a policy says about a request that it refuses. */
export interface AdmissionFinding extends PolicyRuleName {
  readonly field: Path
  /** Where the rule stands. */
  readonly origin: Origin
  /** Distinguishes the checks of one rule independently of their messages; absent if the rule has only one. */
  readonly check?: string
  /** In the words of the policy. */
  readonly message: string
  /** The rule could not be evaluated by its own engine, which then refuses by its failure policy. */
  readonly isError?: true
  readonly action: 'deny' | 'warn' | 'audit'
  /** Who would answer: `Kubernetes` or `Kyverno`. */
  readonly by: string
}

export interface AdmissionAnswer {
  readonly findings: readonly AdmissionFinding[]
  readonly notEvaluated: readonly NotEvaluated[]
}

/**
 * The namespace of a request, empty for what is in none. A Namespace is in itself: its URL names it (`NewRequestInfo` of
 * k8s.io/apiserver/pkg/endpoints/request).
 */
export function requestNamespace({ id, isNamespaced }: AdmissionRequest): string {
  if (id.kind === 'Namespace' && id.apiVersion === 'v1') return id.name
  return isNamespaced ? id.namespace : ''
}

/** What policies are, and what they may ask for beyond the request: the objects of one cluster and its RBAC. */
export interface AdmissionWorld {
  /** Policies of a kind, `<group>/<Kind>`: those that the platform renders. */
  policies(kind: string): readonly KubeObject[]
  /** Policies of a kind in a namespace, that the platform renders. */
  policiesIn(kind: string, namespace: string): readonly KubeObject[]
  object(kind: string, namespace: string, name: string): KubeObject | undefined
  objects(kind: string, namespace: string | undefined): readonly KubeObject[]
  readonly authorize: Authorize
  /** Present only in a policy test. */
  readonly given?: GivenInputs
}

/** The objects of one cluster of a fleet. */
export function worldOf(index: FleetIndex, cluster: string): AdmissionWorld {
  return {
    policies: kind => objectsOf(index.platformAnywhere(cluster, kind)),
    policiesIn: (kind, namespace) => objectsOf(index.platformRendered(cluster, kind, namespace)),
    object: (kind, namespace, name) => {
      const versions = index.versionsOf(cluster, kind, namespace, name)
      return (versions.findLast(isPlatform) ?? versions.at(-1))?.object
    },
    objects: (kind, namespace) =>
      objectsOf(
        namespace === undefined ? index.renderedAnywhere(cluster, kind) : index.rendered(cluster, kind, namespace),
      ),
    authorize: (user, request) => {
      const decision = index.authorizer(cluster).authorize(user, request)
      if (decision.allowed) {
        const { roleRef } = decision.grant.binding
        return { allowed: true, reason: `RBAC: allowed by ${roleRef.kind} "${roleRef.name}"` }
      }
      const [missing] = decision.unresolved
      if (missing)
        return {
          allowed: false,
          reason: '',
          unknown: `${missing.roleRef.kind} ${missing.roleRef.name} is not in the fleet`,
        }
      return { allowed: false, reason: '' }
    },
  }
}

const objectsOf = oncePer((rendered: readonly { readonly object: KubeObject }[]): readonly KubeObject[] =>
  rendered.map(({ object }) => object),
)

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

/** An HTTP response that a test gives. */
interface GivenResponse {
  readonly status: number
  readonly body: Json
}

/** What a policy test gives in place of a cluster, the network and registries. Its objects are complete as written. */
export interface GivenInputs {
  /** Values of the names in a policy's expressions, by dotted path. */
  valuesFor(policy: string, object: string): ReadonlyMap<string, Json>
  /** Further values for one rule of a policy; a rule that Kyverno generates for Pod controllers has the values of its origin. */
  ruleValues(policy: string, rule: string): ReadonlyMap<string, Json>
  /** The objects that `resource.Get` and `resource.List` of CEL read. */
  readonly resources: readonly KubeObject[]
  /** The plural of a kind, as in a URL. */
  resourceOf(apiVersion: string, kind: string): string
  /** The objects that API calls and ConfigMaps of a context read; undefined: the test has no cluster. */
  readonly cluster: readonly KubeObject[] | undefined
  response(method: string, url: string): GivenResponse | undefined
  /** The content of a GlobalContextEntry, by its projections where it has some. */
  globalContext(name: string): Json | undefined
  /** Metadata of an image. */
  image(reference: string): Json | undefined
}
