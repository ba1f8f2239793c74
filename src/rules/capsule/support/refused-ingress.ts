import type { Naming } from '../../../facts/naming.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, isTrue, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import { goMatches } from './capsule-list.ts'
import { listAt, textsAt } from './list-at.ts'
import { type CapsuleRefusal, type Place, refusedClass } from './refused-class.ts'

const INGRESS_CLASS = ['metadata', 'annotations', 'kubernetes.io/ingress.class']

/** Its class, its hostnames, and what other Ingresses have already. */
export function* refusedIngress({ object, kind }: Subject, place: Place): Iterable<CapsuleRefusal> {
  const { root } = object
  const path =
    stringAt(root, ['spec', 'ingressClassName']) === undefined && at(root, INGRESS_CLASS)
      ? INGRESS_CLASS
      : ['spec', 'ingressClassName']
  yield* refusedClass(root, path, place, {
    field: 'ingressOptions.allowedClasses',
    kind: 'networking.k8s.io/IngressClass',
    refusal: name => `Ingress Class ${name} is forbidden for the current Tenant: `,
    missing:
      'No Ingress Class is forbidden for the current Tenant. Specify a Ingress Class which is allowed within the Tenant: ',
  })
  const rules = listAt(root, ['spec', 'rules'])
  const hosts = rules.map((rule, index) => ({
    host: stringAt(rule, ['host']) ?? '',
    path: ['spec', 'rules', index, 'host'],
  }))
  const first = (wanted: string) => hosts.find(({ host }) => host === wanted)?.path ?? ['spec', 'rules']
  const list = at(place.spec, ['ingressOptions', 'allowedHostnames'])
  if (list) yield* refusedHosts([...new Set(hosts.map(({ host }) => host))], list, place, first)
  yield* collisions(object, kind, place)
  const isOn = isTrue(at(place.spec, ['ingressOptions', 'allowWildcardHostnames']))
  const [starred] = isOn ? [] : hosts.filter(({ host }) => host.startsWith('*'))
  if (!starred) return
  yield {
    path: starred.path,
    what: 'it',
    field: ['ingressOptions', 'allowWildcardHostnames'],
    words: `Wildcard denied for tenant ${place.tenant}`,
    value: starred.host,
  }
}

function* refusedHosts(
  hosts: readonly string[],
  list: Node,
  { version }: Place,
  pathOf: (host: string) => Path,
): Iterable<CapsuleRefusal> {
  const field = ['ingressOptions', 'allowedHostnames']
  const exact = textsAt(list, ['allowed'])
  const pattern = stringAt(list, ['allowedRegex'])
  const allowed = `${exact.length > 0 ? `, specify one of the following (${exact.join(', ')})` : ''}${pattern ? `, or matching the regex ${pattern}` : ''}`
  if (hosts.includes('')) {
    const words = `empty hostname is not allowed for the current Tenant${allowed}`
    return yield { path: pathOf(''), what: 'it', field, words, value: 'no host' }
  }
  const others = hosts.filter(host => !exact.includes(host))
  const matched = (host: string) => (pattern ? goMatches(host, pattern) : false)
  // before 0.14, all of them are listed or all of them match
  const refused = version < 14 && pattern ? (others.length === 0 ? [] : hosts) : others
  const bad = refused.filter(host => matched(host) !== true)
  if (bad.length === 0) return
  const words =
    version < 14
      ? `Hostnames [${others.join(' ')}] are not valid for the current Tenant. Hostnames [${pattern ? bad.join(' ') : ''}] not matching for the current Tenant${allowed}`
      : `Hostnames [${bad.join(' ')}] are not valid for the current Tenant${allowed}`
  const isUnknown = bad.every(host => matched(host) === undefined)
  yield { path: pathOf(bad[0]!), what: 'it', field, words: isUnknown ? undefined : words, value: bad.join(' ') }
}

/** Each host and path of an Ingress by its place; a rule without paths has none. */
function pathsOf({ root }: KubeObject): { readonly key: string; readonly host: string; readonly rule: number }[] {
  return listAt(root, ['spec', 'rules']).flatMap((rule, index) => {
    const host = stringAt(rule, ['host']) ?? ''
    const paths = listAt(rule, ['http', 'paths']).map(one => stringAt(one, ['path']) ?? '')
    return paths.map(path => ({ key: `${host};${path}`, host, rule: index }))
  })
}

const HOST_PATH: Naming = { id: 'host and path', of: ({ object }) => pathsOf(object).map(({ key }) => key) }

/** Hosts with a path that an Ingress has which was there before, or is rendered before where both are new. */
function* collisions(object: KubeObject, kind: string, place: Place): Iterable<CapsuleRefusal> {
  const { index, before, cluster, spec, tenant } = place
  const field = ['ingressOptions', 'hostnameCollisionScope']
  const scope = stringAt(spec, field) ?? 'Disabled'
  if (scope === 'Disabled') return
  const { namespace, name } = idOf(object)
  const isInScope = (other: string) => {
    if (scope === 'Namespace') return other === namespace
    const owner = index.capsuleTenantAt(cluster, other)
    return owner !== undefined && (scope === 'Cluster' || idOf(owner).name === tenant)
  }
  const refused = new Set<string>()
  for (const { key, host, rule } of pathsOf(object)) {
    const known = before?.foundAnywhere(cluster, kind, HOST_PATH, key) ?? []
    const all = [...known, ...index.foundAnywhere(cluster, kind, HOST_PATH, key)].map(one => idOf(one.object))
    const first = all.find(id => isInScope(id.namespace))
    if (first === undefined || (first.namespace === namespace && first.name === name) || refused.has(host)) continue
    refused.add(host)
    const words = `hostname ${host} is already used across the cluster: please, reach out to the system administrators`
    yield { path: ['spec', 'rules', rule, 'host'], what: 'it', field, words, value: host }
  }
}
