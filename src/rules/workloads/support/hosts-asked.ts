import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { hostsOf, matched, type RouteHost } from './route-hosts.ts'

const GATEWAY = 'gateway.networking.k8s.io/Gateway'
const EVERY_HOST = '*'

/** The hosts that an object asks for: by name, and where it names none, every one that reaches it. */
export function hostsAsked(
  index: FleetIndex,
  cluster: string,
  kind: string,
  object: KubeObject,
  tenant: string | undefined,
): RouteHost[] {
  const named = hostsOf(kind, object)
  // what the platform sends to itself when nobody else asks for it is its own affair
  if (tenant === undefined) return named
  return [...named, ...nameless(index, cluster, kind, object, tenant)]
}

function nameless(index: FleetIndex, cluster: string, kind: string, object: KubeObject, tenant: string): RouteHost[] {
  const { root } = object
  if (kind.endsWith('/Ingress')) return ofIngress(root)
  if (/^traefik\.[a-z.]+\/IngressRoute$/.test(kind)) return ofTraefik(root)
  if (!/^gateway\.networking\.k8s\.io\/(?:HTTP|GRPC|TLS)Route$/.test(kind)) return []
  if (itemsOf(root, ['spec', 'hostnames']).length > 0) return []
  return ofParents(index, cluster, object, tenant)
}

const all = (path: Path): RouteHost => ({ path, host: EVERY_HOST, catchesAll: true })

/** A rule without a host, or what gets the rest. */
function ofIngress(root: Node): RouteHost[] {
  const rest: Path[] = [
    ['spec', 'defaultBackend'],
    ['spec', 'backend'],
  ]
  const rules = itemsOf(root, ['spec', 'rules']).filter(path => !stringAt(root, [...path, 'host']))
  return [...rest.filter(path => at(root, path) !== undefined), ...rules].slice(0, 1).map(all)
}

function ofTraefik(root: Node): RouteHost[] {
  const paths = itemsOf(root, ['spec', 'routes']).map(path => [...path, 'match'])
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

/** A route without names gets those of the listeners that it is attached to; of a Gateway that nobody sees, all. */
function ofParents(index: FleetIndex, cluster: string, object: KubeObject, tenant: string): RouteHost[] {
  const { root } = object
  return itemsOf(root, ['spec', 'parentRefs']).flatMap(path => {
    const kind = stringAt(root, [...path, 'kind']) || 'Gateway'
    const namespace = stringAt(root, [...path, 'namespace']) || idOf(object).namespace
    // of a Service it is what a mesh sends there, and of the tenant's own Gateway the tenant's own
    if (kind === 'Service' || index.owns(cluster, tenant, namespace)) return []
    const name = stringAt(root, [...path, 'name']) ?? ''
    const section = stringAt(root, [...path, 'sectionName'])
    const gateway = index.platformObject(cluster, GATEWAY, namespace, name)
    if (kind !== 'Gateway' || !gateway) return [all(path)]
    const listeners = itemsOf(gateway.root, ['spec', 'listeners']).filter(
      one => section === undefined || stringAt(gateway.root, [...one, 'name']) === section,
    )
    return listeners.map(one => ({
      path,
      host: stringAt(gateway.root, [...one, 'hostname'])?.toLowerCase() || EVERY_HOST,
      catchesAll: true as const,
    }))
  })
}

function itemsOf(root: Node, path: Path): Path[] {
  const list = at(root, path)
  return list?.type === 'list' ? [...list.items.keys()].map(index => [...path, index]) : []
}
