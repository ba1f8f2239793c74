import { isNamespaceName, isSubdomain } from '../object.ts'

/** One rule of a Role or ClusterRole, as the API server keeps it: absent lists are empty ones. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  /** '' is the core group. */
  readonly apiGroups: readonly string[]
  /** `pods`, `pods/log`, a star for everything, a star before the slash for that subresource of everything. */
  readonly resources: readonly string[]
  /** Empty: every name. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/**
 * A rule as the API server writes it into a refusal: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`
 * (CompactString of k8s.io/kubernetes pkg/apis/rbac/v1).
 */
export function compactString(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const written = parts.filter(([, values]) => values.length > 0).map(([key, values]) => `${key}:${quoteList(values)}`)
  return `{${written.join(', ')}}`
}

/** A list of texts as Go's `%q` prints it: `["a" "b"]`. */
export function quoteList(values: readonly string[]): string {
  return `[${values.map(quote).join(' ')}]`
}

const NAMED = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])

/** A text as Go's `%q` prints it; what cannot be printed is escaped, so it is safe on a terminal. */
export function quote(text: string): string {
  const escaped = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, character => {
    const code = character.codePointAt(0) ?? 0
    const named = NAMED.get(character)
    if (named !== undefined) return named
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}

/** Whether one rule allows a request (RuleAllows of k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac). */
export function ruleAllows(rule: PolicyRule, request: AccessRequest): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(request.verb)) return false
  if ('nonResourceURL' in request) return pathMatches(rule.nonResourceURLs, request.nonResourceURL)
  return (
    (rule.apiGroups.includes('*') || rule.apiGroups.includes(request.apiGroup)) &&
    resourceMatches(rule.resources, request.resource, request.subresource ?? '') &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name ?? ''))
  )
}

function resourceMatches(resources: readonly string[], resource: string, subresource: string): boolean {
  if (resources.includes('*')) return true
  if (!subresource) return resources.includes(resource)
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`)
}

function pathMatches(urls: readonly string[], path: string): boolean {
  return urls.some(url => url === path || isPrefix(url, path))
}

/** Whether a URL of a rule ends in a star and stands before `path`. */
export function isPrefix(url: string, path: string): boolean {
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''))
}

/** Who asks, as authentication leaves it. */
export interface UserInfo {
  /** `system:serviceaccount:<namespace>:<name>` for an account. */
  readonly name: string
  readonly groups: readonly string[]
}

/** A request for a resource. An absent part is ''. */
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

/** A request for a non-resource path. */
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

const PREFIX = 'system:serviceaccount:'
/** Its members may do everything; impersonated accounts are never members. */
export const MASTERS = 'system:masters'

/** Namespace and name of a service account's user name; undefined for a plain user (also for `system:serviceaccount:a:b:c`). */
export function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...others] = user.slice(PREFIX.length).split(':')
  return others.length === 0 && isNamespaceName(namespace) && isSubdomain(name) ? { namespace, name } : undefined
}

/** The user name of a service account. */
export function userOfAccount(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`
}

/** The groups that the API server gives to a user that is authenticated or impersonated without groups. */
function groupsOf(user: string): string[] {
  if (user === 'system:anonymous') return ['system:unauthenticated']
  const account = accountOf(user)
  const own = account ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`] : []
  return [...own, 'system:authenticated']
}

/** A user with the groups that follow from the name, and `more`. */
export function userInfo(user: string, more: readonly string[] = []): UserInfo {
  return { name: user, groups: [...new Set([...groupsOf(user), ...more])] }
}

/** Rules by namespace; '' for those of the whole cluster. */
export type RulesByNamespace = ReadonlyMap<string, readonly PolicyRule[]>

/** Verbs in the order in which people write them. */
const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete', 'bind', 'escalate']
/** They give rights to others: always for one name. */
const GRANTING = new Set(['bind', 'escalate'])

/**
 * The rules that allow exactly these requests, in each namespace. What is shared with others is allowed by name: objects of
 * the whole cluster, those of a namespace in `shared`, and roles.
 */
export function leastRules(requests: readonly ResourceRequest[], shared: ReadonlySet<string>): RulesByNamespace {
  const byNamespace = Map.groupBy(requests, ({ namespace = '' }) => namespace)
  return new Map(
    [...byNamespace]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([namespace, own]) => [namespace, rulesOf(own, namespace === '' || shared.has(namespace))] as const),
  )
}

function rulesOf(requests: readonly ResourceRequest[], isShared: boolean): PolicyRule[] {
  const resources = new Map<string, { group: string; resource: string; names: readonly string[]; verbs: Set<string> }>()
  const byVerb = Map.groupBy(requests, ({ verb, apiGroup, resource }) => JSON.stringify([apiGroup, resource, verb]))
  for (const [key, own] of byVerb) {
    const [group, resource, verb] = JSON.parse(key) as [string, string, string]
    const names = isShared || GRANTING.has(verb) ? [...new Set(own.map(one => one.name ?? ''))].sort() : []
    // a request without a name, like `list`, is never allowed by one
    const allowed = names.includes('') ? [] : names
    const place = JSON.stringify([group, resource, allowed])
    const known = resources.get(place) ?? { group, resource, names: allowed, verbs: new Set<string>() }
    known.verbs.add(verb)
    resources.set(place, known)
  }
  const rules = Map.groupBy(resources.values(), ({ group, names, verbs, resource }) =>
    JSON.stringify([group, names.length > 0 ? [resource, names] : [], sortedVerbs(verbs)]),
  )
  return [...rules.values()]
    .map(same => ({
      apiGroups: [same[0]!.group],
      resources: same.map(({ resource }) => resource).sort(),
      resourceNames: same[0]!.names,
      verbs: sortedVerbs(same[0]!.verbs),
      nonResourceURLs: [],
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const sortedVerbs = (verbs: Iterable<string>) => [...verbs].sort((a, b) => VERBS.indexOf(a) - VERBS.indexOf(b))
const orderOf = (rule: PolicyRule) => JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.verbs])
