import { capital, message, untyped } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { Cluster } from '../../fleet/model/fleet.ts'
import type { NamingField } from '../../kube/capabilities/capability.ts'
import { annotationNaming, fieldsNaming, kindsNaming } from '../../kube/capabilities/index.ts'
import { namedBy } from '../../kube/capabilities/named-values.ts'
import { at, entriesOf, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { everyMap, everyPath, isUnset, textOf } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'

const VIRTUAL_SERVERS = [
  'k8s.nginx.org/VirtualServer',
  'k8s.nginx.org/VirtualServerRoute',
  'k8s.nginx.org/TransportServer',
]

/** Kinds that can contain proxy configuration. A Service's annotations reach some proxies too. */
const snippetKinds: readonly string[] = [
  'networking.k8s.io/Ingress',
  'extensions/Ingress',
  '/Service',
  ...VIRTUAL_SERVERS,
  ...kindsNaming('code'),
]

/** Tenants route their own hosts, and do not write configuration of the shared proxy. */
export const ingressHijack: Rule = {
  id: 'ingress-hijack',
  severity: 'high',
  title: 'Foreign host or snippet in a route',
  why: "A snippet runs in the proxy that serves all tenants and can read its certificates and token. A route for another tenant's host, or for a wildcard over it, receives that tenant's traffic and cookies.",
  source: 'CVE-2021-25742, CVE-2023-5044, CVE-2025-1974',
  docs: 'Remove snippets (a violation). Use hosts that no other tenant and no platform route uses, without wildcards over them (a warning).',
  kinds: snippetKinds,
  *checkTenantObject(subject) {
    for (const one of snippets(subject)) yield snippet(subject, one)
  },
  checkCluster: overlaps,
}

function snippet(subject: Subject, { path, value, what, level }: Snippet): Violation {
  return subject.violation(path, value, {
    message: message`${subject.who} changes the proxy's configuration with ${quoted('value', value)}. ${capital(what)}. Allowed: settings that the proxy validates. The proxy's controller accepts it where snippets are enabled.`,
    fix: message`Remove ${quoted('value', value)}, or ask a fleet admin for a supported setting.`,
    ...(level ? { level } : {}),
  })
}

interface Claimed extends Rendered {
  readonly path: Path
  readonly claim: HostClaim
}

function* overlaps({ name }: Cluster, { index, before }: RuleContext): Iterable<Violation> {
  const known = before && new Set([...claimsOf(before, name)].map(keyOf))
  const claims = new HostClaims()
  const own: Claimed[] = []
  for (const one of claimsOf(index, name)) {
    const claimed = { ...one, claim: { ...one.claim, isOld: known?.has(keyOf(one)) ?? false } }
    claims.add(claimed.claim)
    if (claimed.node.tenant !== undefined) own.push(claimed)
  }
  for (const one of own) {
    const overlap = claims.overlap(one.claim)
    if (overlap) yield hostViolation(one, overlap)
  }
}

const keyOf = ({ claim }: Claimed) => `${claim.tenant ?? ''} ${claim.host}`

function* claimsOf(index: FleetIndex, cluster: string): Iterable<Claimed> {
  for (const kind of routeKinds) {
    for (const { node, object } of index.renderedAnywhere(cluster, kind)) {
      const tenant = index.actsFor(node, object)
      if (tenant === undefined && isGateway(kind)) continue
      for (const { path, host, catchesAll } of hostsAsked(index, cluster, kind, object, tenant))
        yield { node, object, path, claim: { host, tenant, isOld: false, ...(catchesAll ? { catchesAll } : {}) } }
    }
  }
}

const OVERLAP_TEXTS = {
  host: 'which another tenant or the platform also uses on this cluster',
  covers: 'which covers hosts of another tenant or the platform on this cluster',
  covered: 'which is below a wildcard of another tenant',
}

function hostViolation({ node, object, path, claim }: Claimed, overlap: keyof typeof OVERLAP_TEXTS): Violation {
  return new Subject({ node, object }).violation(path, claim.host, {
    level: 'warning',
    message: message`${whoOf(object)} uses the host ${quoted('value', claim.host)}, ${untyped(OVERLAP_TEXTS[overlap])}. Allowed: a host of one tenant. The API server accepts it, and the proxy picks one of the routes.`,
    fix: message`Change the host to one that only this tenant uses.`,
  })
}

/** A request for the traffic of a host. */
interface HostClaim {
  readonly host: string
  /** Undefined: the platform. */
  readonly tenant: string | undefined
  /** It existed before the change; without a comparison the first one is not known. */
  readonly isOld: boolean
  /** It only gets what no other route requests by name: others get no finding about it. */
  readonly catchesAll?: true
}

/** Who claims a host; two names are enough to know whether another claimant exists. */
interface Claimants {
  readonly any: Set<string>
  readonly old: Set<string>
}

const PLATFORM = '\0'

/** Whose hosts overlap. An existing claim is not held against the first claimant. */
class HostClaims {
  /** By host, and for each parent of a host what is claimed below it. */
  readonly #at = new Map<string, Claimants>()
  readonly #below = new Map<string, Claimants>()

  add(claim: HostClaim): void {
    if (claim.catchesAll) return
    note(this.#at, claim.host, claim)
    for (const wildcard of wildcardsOver(claim.host)) note(this.#below, wildcard, claim)
  }

  /** What another owner's claim shares with a tenant's: the same host, one that it covers, or a wildcard over it. */
  overlap(claim: HostClaim): 'host' | 'covers' | 'covered' | undefined {
    if (isOthers(this.#at.get(claim.host), claim)) return 'host'
    if (isOthers(this.#below.get(claim.host), claim)) return 'covers'
    // a wildcard of the platform is an offer to its tenants
    const over = wildcardsOver(claim.host).some(host => isOthers(this.#at.get(host), claim, PLATFORM))
    return over ? 'covered' : undefined
  }
}

function isOthers(claimants: Claimants | undefined, { tenant, isOld }: HostClaim, besides?: string): boolean {
  const known = isOld ? claimants?.old : claimants?.any
  for (const one of known ?? []) if (one !== (tenant ?? PLATFORM) && one !== besides) return true
  return false
}

function note(map: Map<string, Claimants>, host: string, { tenant, isOld }: HostClaim): void {
  let claimants = map.get(host)
  if (!claimants) {
    claimants = { any: new Set(), old: new Set() }
    map.set(host, claimants)
  }
  for (const set of isOld ? [claimants.any, claimants.old] : [claimants.any])
    if (set.size < 3) set.add(tenant ?? PLATFORM)
}

/** `*.b.c`, `*.c` and `*` for `a.b.c`. */
function wildcardsOver(host: string): string[] {
  const labels = host.split('.')
  const parents = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)
  return [...parents, '*'].filter(one => one !== host)
}

const GATEWAY = 'gateway.networking.k8s.io/Gateway'
const EVERY_HOST = '*'

/** The hosts that an object requests: by name, or if it names none, every host that reaches it. */
function hostsAsked(
  index: FleetIndex,
  cluster: string,
  kind: string,
  object: KubeObject,
  tenant: string | undefined,
): RouteHost[] {
  const named = hostsOf(kind, object)
  // the platform's own catch-all routes are allowed
  if (tenant === undefined) return named
  return [...named, ...nameless(index, cluster, kind, object, tenant)]
}

function nameless(index: FleetIndex, cluster: string, kind: string, object: KubeObject, tenant: string): RouteHost[] {
  const { root } = object
  if (kind.endsWith('/Ingress')) return ofIngress(root)
  if (/^traefik\.[a-z.]+\/IngressRoute$/.test(kind)) return ofTraefik(root)
  if (!/^gateway\.networking\.k8s\.io\/(?:HTTP|GRPC|TLS)Route$/.test(kind)) return []
  if (everyPath(root, ['spec', 'hostnames', '*']).length > 0) return []
  return ofParents(index, cluster, object, tenant)
}

const all = (path: Path): RouteHost => ({ path, host: EVERY_HOST, catchesAll: true })

/** A rule without a host, or a default backend. */
function ofIngress(root: Node): RouteHost[] {
  const rest: Path[] = [
    ['spec', 'defaultBackend'],
    ['spec', 'backend'],
  ]
  const rules = everyPath(root, ['spec', 'rules', '*']).filter(path => !stringAt(root, [...path, 'host']))
  return [...rest.filter(path => at(root, path) !== undefined), ...rules].slice(0, 1).map(all)
}

function ofTraefik(root: Node): RouteHost[] {
  const paths = everyPath(root, ['spec', 'routes', '*']).map(path => [...path, 'match'])
  return paths
    .filter(path => {
      const rule = stringAt(root, path) ?? ''
      return /\bHost(?:SNI)?Regexp\(/.test(rule) || matched(rule).length === 0 || !alternatives(rule).every(namesHost)
    })
    .slice(0, 1)
    .map(all)
}

/** What stands between `||` outside of brackets, without blanks and quoted texts: each is a rule of its own. */
function alternatives(rule: string): string[] {
  const found = ['']
  let depth = 0
  for (const token of rule.replace(/`[^`]*`|"[^"]*"|\s+/g, '').match(/\|\||[\s\S]/g) ?? []) {
    if (token === '(') depth++
    else if (token === ')') depth--
    if (token === '||' && depth === 0) found.push('')
    else found[found.length - 1] += token
  }
  return found
}

/** A host that a rule excludes is none that it names. */
const namesHost = (rule: string): boolean => /\bHost(?:SNI|Header)?\(/.test(rule.replace(/!\(*Host/g, ''))

/** A route without names gets those of the listeners that it attaches to; of a Gateway that is not visible, all. */
function ofParents(index: FleetIndex, cluster: string, object: KubeObject, tenant: string): RouteHost[] {
  const { root } = object
  return everyPath(root, ['spec', 'parentRefs', '*']).flatMap(path => {
    const kind = stringAt(root, [...path, 'kind']) || 'Gateway'
    const namespace = stringAt(root, [...path, 'namespace']) || idOf(object).namespace
    // a mesh routes a Service's traffic, and the tenant's own Gateway is the tenant's
    if (kind === 'Service' || index.owns(cluster, tenant, namespace)) return []
    const name = stringAt(root, [...path, 'name']) ?? ''
    const section = stringAt(root, [...path, 'sectionName'])
    const gateway = index.platformObject(cluster, GATEWAY, namespace, name)
    if (kind !== 'Gateway' || !gateway) return [all(path)]
    const listeners = everyPath(gateway.root, ['spec', 'listeners', '*']).filter(
      one => section === undefined || stringAt(gateway.root, [...one, 'name']) === section,
    )
    return listeners.map(one => ({
      path,
      host: stringAt(gateway.root, [...one, 'hostname'])?.toLowerCase() || EVERY_HOST,
      catchesAll: true as const,
    }))
  })
}

/** A host name that an object asks traffic for. */
interface RouteHost {
  readonly path: Path
  /** Lower case; `*.` in front of a wildcard, `*` for every host. */
  readonly host: string
  /** It gets what no other route requests by name. */
  readonly catchesAll?: true
}

/** The kinds whose hosts are read; annotations of Services add some. */
export const routeKinds: readonly string[] = [...kindsNaming('host'), '/Service']

/** A Gateway of the platform offers its hosts to routes; other kinds take them. */
const isGateway = (kind: string): boolean => kind.endsWith('/Gateway')

/** Where an object names hosts. */
export function hostPaths(kind: string, { root }: KubeObject): Path[] {
  return [...fieldsNaming(kind, 'host'), ...annotated(root)].flatMap(field =>
    namedBy(root, field).map(({ path }) => path),
  )
}

/** The hosts that an object asks for by name, each once. */
function hostsOf(kind: string, object: KubeObject): RouteHost[] {
  const { root } = object
  const found = new Map<string, RouteHost>()
  for (const path of hostPaths(kind, object)) {
    const text = textOf(at(root, path)) ?? ''
    for (const name of path.at(-1) === 'match' ? matched(text) : text.split(/[\s,]+/)) {
      const host = normalised(name)
      if (host !== '' && !found.has(host)) found.set(host, { path, host })
    }
  }
  return [...found.values()]
}

function annotated(root: Node): NamingField[] {
  const map = at(root, ['metadata', 'annotations'])
  if (map?.type !== 'map') return []
  return [...map.fields.keys()].map(key => annotationNaming(key, 'host')).filter(field => field !== undefined)
}

/** Hosts of a rule of Traefik: Host(`a`, `b`), HostSNI(`c`), and by the older names of the same. */
function matched(rule: string): string[] {
  // up to each closing bracket at most one call, so that brackets that never close cost nothing
  const calls = rule
    .split(')')
    .slice(0, -1)
    .flatMap(text => /\bHost(?:SNI|Header)?\(([\s\S]*)$/.exec(text)?.[1] ?? [])
  return calls.flatMap(names => names.split(',').map(name => name.replace(/[`'"\s]/g, '')))
}

/** Without the namespace that Istio writes in front, the trailing dot, or a port; '' for a name inside a namespace. */
function normalised(host: string): string {
  const name = host
    .slice(host.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
  if (!name.includes('.') && name !== '*') return ''
  // longer names are invalid in DNS
  return name.length <= 253 ? name : ''
}

interface Snippet {
  readonly path: Path
  /** The name of the field; its text may be anything. */
  readonly value: string
  readonly what: string
  readonly level?: 'warning'
}

/** Annotations that are configuration of the proxy under another name. */
const RAW =
  /^(?:haproxy-ingress\.github\.io|ingress\.kubernetes\.io)\/config-(?:backend|defaults|frontend|global|proxy|sections|tcp|tcp-service)$/
/** Annotations of ingress-nginx that were written into its configuration without being checked. */
const UNCHECKED = new Set(
  'auth-url auth-signin auth-tls-match-cn mirror-target mirror-host permanent-redirect rewrite-target from-to-www-redirect upstream-vhost'
    .split(' ')
    .map(name => `nginx.ingress.kubernetes.io/${name}`),
)

/** Every place where an object writes configuration of a proxy itself. */
function* snippets({ object: { root }, kind }: Subject): Iterable<Snippet> {
  for (const field of fieldsNaming(kind, 'code')) {
    for (const { path } of namedBy(root, { ...field, form: 'everywhere' })) {
      const level = field.level ? { level: field.level } : {}
      yield { path, value: String(path.at(-1)), what: `it ${field.says ?? 'runs in the proxy'}`, ...level }
    }
  }
  const annotations = ['metadata', 'annotations']
  yield* ofMap(at(root, annotations), annotations, true)
  const spec = at(root, ['spec'])
  if (!spec) return
  for (const { path, node } of everyMap(spec)) yield* ofMap(node, ['spec', ...path], false)
}

function* ofMap(map: Node | undefined, base: Path, annotations: boolean): Iterable<Snippet> {
  for (const [key, value] of entriesOf(map)) {
    const path = [...base, key]
    if (isUnset(value)) continue
    if (isSnippet(key, annotations)) yield { path, value: key, what: 'a snippet runs with the rights of the proxy' }
    else if (annotations && UNCHECKED.has(key) && /[\r\n{};]/.test(textOf(value) ?? '')) {
      yield { path, value: key, what: 'its value ends the directive and begins another' }
    }
  }
}

/** `configuration-snippet`, `server-snippets`, `stream-snippet`, ... of any proxy; in a spec only with that ending. */
function isSnippet(key: string, annotation: boolean): boolean {
  const name = key.slice(key.lastIndexOf('/') + 1).toLowerCase()
  if (annotation && (!key.includes('/') || RAW.test(key))) return RAW.test(key)
  return /(?:^|-)snippets?$/.test(name) && (annotation || name !== 'snippet')
}
