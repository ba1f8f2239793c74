import { quote } from './policy-rule.ts'

/** Who asks, as authentication leaves it. */
export interface UserInfo {
  /** `system:serviceaccount:<namespace>:<name>` for an account. */
  readonly name: string
  readonly groups: readonly string[]
}

/** May this be done to a resource? An absent part is ''. */
export interface ResourceRequest {
  readonly verb: string
  /** '' is the core group. */
  readonly apiGroup: string
  /** The plural, as in a URL. */
  readonly resource: string
  readonly subresource?: string | undefined
  /** '' for the whole cluster. */
  readonly namespace?: string | undefined
  /** '' for a request that names no object: list, watch, deletecollection, POST. */
  readonly name?: string | undefined
}

/** May this path, which is no resource, be called? */
interface PathRequest {
  /** In lower case, as the API server makes it of the method. */
  readonly verb: string
  readonly nonResourceURL: string
}

export type AccessRequest = ResourceRequest | PathRequest

/**
 * What the API server answers to a request that no rule allows, word by word; `notes` are the roles that it did not find
 * (ForbiddenStatusError of k8s.io/apiserver).
 */
export function forbidden(user: UserInfo, request: AccessRequest, notes: readonly string[] = []): string {
  const reason = notes.length > 0 ? `: RBAC: ${aggregated(notes)}` : ''
  if ('nonResourceURL' in request) {
    return `forbidden: User ${quote(user.name)} cannot ${request.verb} path ${quote(request.nonResourceURL)}${reason}`
  }
  const { verb, apiGroup, resource, subresource, namespace, name } = request
  const kind = apiGroup ? `${resource}.${apiGroup}` : resource
  const full = subresource ? `${resource}/${subresource}` : resource
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope'
  const what = `cannot ${verb} resource ${quote(full)} in API group ${quote(apiGroup)} ${where}`
  return `${kind}${name ? ` ${quote(name)}` : ''} is forbidden: User ${quote(user.name)} ${what}${reason}`
}

/** Several errors as one, each once (Aggregate of k8s.io/apimachinery). */
export function aggregated(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors)
  return others.length > 0 ? `[${[first, ...others].join(', ')}]` : first
}
