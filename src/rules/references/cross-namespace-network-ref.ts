import { internalHost } from '../../kube/address/internal-host.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { Rule, RuleContext, Subject } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'

const ROUTES = ['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute', 'UDPRoute'].map(
  kind => `gateway.networking.k8s.io/${kind}`,
)
const TRAEFIK = ['traefik.io', 'traefik.containo.us'].flatMap(group =>
  ['IngressRoute', 'IngressRouteTCP', 'IngressRouteUDP', 'TraefikService', 'Middleware'].map(
    kind => `${group}/${kind}`,
  ),
)
const ISTIO = ['VirtualService', 'DestinationRule'].map(kind => `networking.istio.io/${kind}`)
const MANUAL = ['/Endpoints', 'discovery.k8s.io/EndpointSlice']
const SERVICE = '/Service'
const MAX_DEPTH = 12

/** Traffic of a tenant stays with the tenant's services. */
export const crossNamespaceNetworkRef: Rule = {
  id: 'cross-namespace-network-ref',
  severity: 'medium',
  level: 'warning',
  title: "Traffic is sent to services of the tenant's own namespaces",
  why: 'An ingress controller or a gateway reaches every namespace. A name, a route or an address that leads it to a service of somebody else goes around the network policies that protect that service.',
  source: 'CVE-2021-25740; Gateway API, ReferenceGrant',
  docs: "Send traffic to services of the tenant's own namespaces. Gateways of the platform may be named in `parentRefs`. Addresses of endpoints are left to Kubernetes, which takes them from the pods of a Service.",
  kinds: [SERVICE, ...ROUTES, ...TRAEFIK, ...ISTIO, ...MANUAL],
  *checkTenantObject(subject, context) {
    const { object, id, node } = subject
    for (const { path, value, what } of foreign(subject, context, node.tenant)) {
      const message = `${shownObject(id.kind, id.namespace, id.name)} ${what}.`
      yield { node, object, path, value, message, fix: "Name a service of the tenant's own namespaces." }
    }
  },
}

interface Found {
  readonly path: Path
  readonly value: string
  readonly what: string
}

function* foreign(subject: Subject, context: RuleContext, tenant: string): Iterable<Found> {
  const { object, kind, node } = subject
  const owns = (namespace: string) => context.index.owns(node.cluster, tenant, namespace)
  if (MANUAL.includes(kind)) {
    const path = kind === '/Endpoints' ? ['subsets'] : ['endpoints']
    const list = at(object.root, path)
    if (list?.type !== 'list' || list.items.length === 0) return
    yield { path, value: 'addresses', what: 'names addresses of its own, which may be those of pods of anybody' }
    return
  }
  if (kind === SERVICE) {
    const path = ['spec', 'externalName']
    if (stringAt(object.root, ['spec', 'type']) === 'ExternalName') yield* hostAt(object.root, path, owns)
    return
  }
  if (ISTIO.includes(kind)) {
    for (const path of pathsOf(object.root, 'host')) yield* hostAt(object.root, path, owns)
    return
  }
  for (const path of pathsOf(object.root, 'namespace')) {
    if (path[0] === 'metadata') continue
    const namespace = stringAt(object.root, path) ?? ''
    if (namespace === '' || owns(namespace)) continue
    // A gateway is there to be shared; another tenant's is not.
    const isParent = path.includes('parentRefs') || path.includes('entryPoints')
    if (isParent && context.index.ownerOf(node.cluster, namespace) === undefined) continue
    const name = stringAt(object.root, [...path.slice(0, -1), 'name']) ?? ''
    yield {
      path,
      value: `${namespace}/${name}`,
      what: `leads to ${shown(`${namespace}/${name}`)}, which is in another namespace`,
    }
  }
}

function* hostAt(root: Node, path: Path, owns: (namespace: string) => boolean): Iterable<Found> {
  const host = stringAt(root, path)?.trim() ?? ''
  const inside = host.includes('.') || path.includes('externalName') ? internalHost(host) : undefined
  if (!inside || (inside.service && owns(inside.service.namespace))) return
  yield { path, value: host.toLowerCase(), what: `leads to ${shown(host)}, which is ${inside.what}` }
}

/** Every place of a field below spec. */
function pathsOf(root: Node, field: string): Path[] {
  const found: Path[] = []
  const visit = (node: Node | undefined, path: Path) => {
    if (!node || path.length > MAX_DEPTH) return
    if (node.type === 'list') for (const [index, item] of node.items.entries()) visit(item, [...path, index])
    if (node.type !== 'map') return
    for (const [key, { value }] of node.fields) {
      if (key === field && value.type === 'scalar') found.push([...path, key])
      else visit(value, [...path, key])
    }
  }
  visit(at(root, ['spec']), ['spec'])
  return found
}
