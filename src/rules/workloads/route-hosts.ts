import { at, type Node, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { everyPath } from './every-path.ts'
import { textOf } from './scalars.ts'

/** A host name that an object asks traffic for. */
export interface RouteHost {
  readonly path: Path
  /** Lower case; `*.` in front of a wildcard, `*` for every host. */
  readonly host: string
}

const GATEWAY_ROUTE: readonly Path[] = [['spec', 'hostnames', '*']]
const INGRESS: readonly Path[] = [
  ['spec', 'rules', '*', 'host'],
  ['spec', 'tls', '*', 'hosts', '*'],
]

/** Where kinds of routes name their hosts, by `<group>/<Kind>`. */
const HOSTS: ReadonlyMap<string, readonly Path[]> = new Map<string, readonly Path[]>([
  ['networking.k8s.io/Ingress', INGRESS],
  ['extensions/Ingress', INGRESS],
  ['gateway.networking.k8s.io/HTTPRoute', GATEWAY_ROUTE],
  ['gateway.networking.k8s.io/GRPCRoute', GATEWAY_ROUTE],
  ['gateway.networking.k8s.io/TLSRoute', GATEWAY_ROUTE],
  ['gateway.networking.k8s.io/Gateway', [['spec', 'listeners', '*', 'hostname']]],
  ['networking.istio.io/Gateway', [['spec', 'servers', '*', 'hosts', '*']]],
  ['networking.istio.io/VirtualService', [['spec', 'hosts', '*']]],
  ['projectcontour.io/HTTPProxy', [['spec', 'virtualhost', 'fqdn']]],
  ['route.openshift.io/Route', [['spec', 'host']]],
  ['k8s.nginx.org/VirtualServer', [['spec', 'host']]],
  ['traefik.io/IngressRoute', [['spec', 'routes', '*', 'match']]],
  ['traefik.containo.us/IngressRoute', [['spec', 'routes', '*', 'match']]],
  ['traefik.io/IngressRouteTCP', [['spec', 'routes', '*', 'match']]],
  ['traefik.containo.us/IngressRouteTCP', [['spec', 'routes', '*', 'match']]],
  ['serving.knative.dev/DomainMapping', [['metadata', 'name']]],
  ['externaldns.k8s.io/DNSEndpoint', [['spec', 'endpoints', '*', 'dnsName']]],
])

/** Annotations that add hosts, on routes as on Services. */
const HOST_ANNOTATIONS = new Set([
  'nginx.ingress.kubernetes.io/server-alias',
  'external-dns.alpha.kubernetes.io/hostname',
  'haproxy-ingress.github.io/server-alias',
])

/** The kinds whose hosts are read. */
export const routeKinds: readonly string[] = [...HOSTS.keys(), '/Service']

/** A Gateway of the platform offers its hosts to routes; other kinds take them. */
export const isGateway = (kind: string): boolean => kind.endsWith('/Gateway')

/** Where an object names hosts. */
export function hostPaths(kind: string, { root }: KubeObject): Path[] {
  return [...(HOSTS.get(kind) ?? []).flatMap(pattern => everyPath(root, pattern)), ...annotated(root)]
}

/** The hosts that an object asks for, each once. */
export function hostsOf(kind: string, object: KubeObject): RouteHost[] {
  const { root } = object
  const found = new Map<string, RouteHost>()
  for (const path of hostPaths(kind, object)) {
    const text = textOf(at(root, path)) ?? ''
    const names = path.at(-1) === 'match' ? matched(text) : text.split(/[\s,]+/)
    for (const name of names) {
      const host = normalised(name)
      if (host !== '' && !found.has(host)) found.set(host, { path, host })
    }
  }
  return [...found.values()]
}

function annotated(root: Node): Path[] {
  const path = ['metadata', 'annotations']
  const map = at(root, path)
  if (map?.type !== 'map') return []
  return [...map.fields.keys()].filter(key => HOST_ANNOTATIONS.has(key)).map(key => [...path, key])
}

/** Hosts of a rule of Traefik: Host(`a`, `b`), HostSNI(`c`). */
function matched(rule: string): string[] {
  const calls = [...rule.slice(0, 10_000).matchAll(/\bHost(?:SNI)?\(([^)]{0,2000})\)/g)]
  return calls.flatMap(([, names = '']) => names.split(',').map(name => name.replace(/[`'"\s]/g, '')))
}

/** Without the namespace that Istio writes in front, the trailing dot, or a port; '' for a name inside a namespace. */
function normalised(host: string): string {
  const name = host
    .slice(host.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '')
  if (!name.includes('.') && name !== '*') return ''
  return name.length <= 253 && name.split('.').length <= 32 ? name : ''
}
