import { pullPolicyOf } from '../../admission/admission/defaults.ts'
import type { Naming } from '../../fleet/facts/object-table.ts'
import { parseAddress } from '../../kube/internal-host.ts'
import { at, isTrue, type Node, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import { listAt, textsAt } from '../model/object-values.ts'
import type { Subject } from '../model/rule.ts'
import { containersOf, type Pod, podsOf } from '../workloads/pods.ts'
import {
  type CapsuleRefusal,
  type ClassWords,
  forbiddenKey,
  goMatches,
  isAllowedBy,
  listedWords,
  type Place,
  refusedClass,
} from './allow-lists.ts'

/** What Capsule refuses for every user (internal/webhook/pod, pvc, ingress, service and gateway of Capsule). */
export function* refusedFields(subject: Subject, place: Place): Iterable<CapsuleRefusal> {
  for (const pod of podsOf(subject, place.index))
    yield* refusedPod(pod, place, subject.kind === '/Pod' ? 'it' : 'its Pods')
  yield* refusedClaims(subject, place)
  const { root } = subject.object
  if (/\/Ingress$/.test(subject.kind)) yield* refusedIngress(subject, place)
  const requests = DEVICE_REQUESTS.get(subject.kind)
  if (requests) yield* refusedDevices(root, requests, place)
  if (subject.kind === '/Service') yield* refusedService(root, place)
  if (subject.kind === 'gateway.networking.k8s.io/Gateway') {
    yield* refusedClass(root, ['spec', 'gatewayClassName'], place, {
      field: 'gatewayOptions.allowedClasses',
      kind: 'gateway.networking.k8s.io/GatewayClass',
      // Capsule prints the name of the Gateway here
      refusal: (_class, name) => `Gateway Class ${name} is forbidden for the current Tenant: `,
      missing:
        'No gateway Class is forbidden for the current Tenant. Specify a gateway Class which is allowed within the Tenant: ',
    })
  }
}

const DEVICE_REQUESTS: ReadonlyMap<string, Path> = new Map([
  ['resource.k8s.io/ResourceClaim', ['spec', 'devices', 'requests']],
  ['resource.k8s.io/ResourceClaimTemplate', ['spec', 'spec', 'devices', 'requests']],
])

/** Classes of devices (0.12 and later): Capsule looks at the first request only. */
function* refusedDevices(root: Node, requests: Path, place: Place): Iterable<CapsuleRefusal> {
  const [field, first] = ['deviceClasses', [...requests, 0]]
  if (place.version < 12 || !at(place.spec, [field]) || !at(root, first)) return
  const path = [...first, 'exactly', 'deviceClassName']
  if (stringAt(root, path) === undefined) {
    const words = 'panic: runtime error: invalid memory address or nil pointer dereference [recovered]'
    return yield { path: first, what: 'it', field: [field], words, value: 'not exactly one' }
  }
  yield* refusedClass(root, path, place, {
    selectsAll: true,
    field,
    kind: 'resource.k8s.io/DeviceClass',
    refusal: name => `Device Class ${name} is forbidden for the current Tenant: `,
  })
}

function* refusedPod(pod: Pod, place: Place, what: CapsuleRefusal['what']): Iterable<CapsuleRefusal> {
  const { spec, version } = place
  const registries = at(spec, ['containerRegistries'])
  const policies = textsAt(spec, ['imagePullPolicies'])
  for (const { path, node } of containersOf(pod)) {
    const image = stringAt(node, ['image']) ?? ''
    const refused = registries && image !== '' ? refusedImage(image, registries, version) : false
    if (refused !== false)
      yield { path: [...path, 'image'], what, field: ['containerRegistries'], words: refused, value: image }
    const policy = stringAt(node, ['imagePullPolicy']) ?? pullPolicyOf(image)
    if (policies.length === 0 || policies.some(one => one.toLowerCase() === policy.toLowerCase())) continue
    const words = `ImagePullPolicy ${policy} for container ${stringAt(node, ['name']) ?? ''} is forbidden, use one of the followings: ${policies.join(', ')}`
    const at = node.fields.has('imagePullPolicy') ? [...path, 'imagePullPolicy'] : [...path, 'image']
    yield { path: at, what, field: ['imagePullPolicies'], words, value: policy }
  }
  for (const [field, kind, list, title, more] of CLASSES) {
    for (const one of refusedClass(pod.spec, [field], place, {
      ...more,
      field: list,
      kind,
      refusal: name => `Pod ${title} Class ${name} is forbidden for the current Tenant: `,
    })) {
      yield { ...one, what, path: [...pod.path, field] }
    }
  }
}

const CLASSES = [
  ['priorityClassName', 'scheduling.k8s.io/PriorityClass', 'priorityClasses', 'Priority', {}],
  ['runtimeClassName', 'node.k8s.io/RuntimeClass', 'runtimeClasses', 'Runtime', { selectsAll: true }],
] as const

/** containerregistry_legacy_registry.go of Capsule. */
const IMAGE = /^(?:([a-zA-Z0-9-._]+(?::\d+)?)\/)?(.*\/)?([a-zA-Z0-9-._]+:([a-zA-Z0-9-._]+))?/

function refusedImage(image: string, list: Node, version: number): string | undefined | false {
  const [, registry = '', repository = '', name = ''] = IMAGE.exec(image) ?? []
  const isAllowed = registry === '' ? false : isAllowedBy(list, registry)
  if (isAllowed === true) return false
  if (isAllowed === undefined) return undefined
  // without a tag, Capsule finds no image in it
  const full = name === '' ? '' : `${registry}/${repository}${name}`
  const shown = registry === '' || version < 11 ? image : full
  return `Container image ${shown} registry is forbidden for the current Tenant: ${listedWords(list, { isSorted: registry !== '', blank: ' ' }).join(' or ')}`
}

const STORAGE: ClassWords = {
  field: 'storageClasses',
  kind: 'storage.k8s.io/StorageClass',
  refusal: name => `Storage Class ${name} is forbidden for the current Tenant `,
}

function* refusedClaims(subject: Subject, place: Place): Iterable<CapsuleRefusal> {
  const { root } = subject.object
  const list = at(place.spec, ['storageClasses'])
  if (!list) return
  const claims: [Path, CapsuleRefusal['what']][] =
    subject.kind === '/PersistentVolumeClaim'
      ? [[['spec'], 'it']]
      : listAt(root, ['spec', 'volumeClaimTemplates']).map((_, index) => [
          ['spec', 'volumeClaimTemplates', index, 'spec'],
          'its PersistentVolumeClaims',
        ])
  for (const { path, spec } of podsOf(subject, place.index)) {
    for (const [index, volume] of listAt(spec, ['volumes']).entries()) {
      const inside = ['ephemeral', 'volumeClaimTemplate', 'spec']
      if (at(volume, inside)) claims.push([[...path, 'volumes', index, ...inside], 'its PersistentVolumeClaims'])
    }
  }
  for (const [path, what] of claims) {
    const claim = at(root, path)
    if (!claim) continue
    // the API server may set the cluster's default class before it asks Capsule
    if (stringAt(claim, ['storageClassName']) === undefined && !stringAt(list, ['default']))
      yield { path, what, field: ['storageClasses'], words: undefined, value: 'no class' }
    for (const one of refusedClass(claim, ['storageClassName'], place, STORAGE))
      yield { ...one, what, path: [...path, 'storageClassName'] }
  }
}

const INGRESS_CLASS = ['metadata', 'annotations', 'kubernetes.io/ingress.class']

/** The class and hostnames of an Ingress, and hosts that other Ingresses already have. */
function* refusedIngress({ object, kind }: Subject, place: Place): Iterable<CapsuleRefusal> {
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
  // before 0.14, all must be listed or all must match
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

/** Host and path pairs of an Ingress that another has which existed before, or is rendered earlier if both are new. */
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

const TYPES = [
  ['NodePort', 'nodePort'],
  ['ExternalName', 'externalName'],
  ['LoadBalancer', 'loadBalancer'],
] as const

/** The type, metadata and addresses of a Service. */
function* refusedService(root: Node, { spec, version }: Place): Iterable<CapsuleRefusal> {
  const type = stringAt(root, ['spec', 'type'])
  for (const [name, field] of TYPES) {
    const path = ['serviceOptions', 'allowedServices', field]
    const allowed = at(spec, path)
    if (type !== name || allowed?.type !== 'scalar' || allowed.value !== false) continue
    const words = `${name} service types are forbidden for the tenant: please, reach out to the system administrators`
    yield { path: ['spec', 'type'], what: 'it', field: path, words, value: name }
  }
  for (const [part, option] of [
    ['annotations', 'forbiddenAnnotations'],
    ['labels', 'forbiddenLabels'],
  ] as const) {
    const keys = textMapOf(at(root, ['metadata', part]))?.keys() ?? []
    const found = forbiddenKey(at(spec, ['serviceOptions', option]), keys, version)
    if (!found) continue
    const words = `${version < 13 ? 'service ' : ''}${part} validation failed: ${found.words}`
    yield {
      path: ['metadata', part, found.key],
      what: 'it',
      field: ['serviceOptions', option],
      words,
      value: found.key,
    }
  }
  const ips = at(spec, EXTERNAL_IPS)
  const allowed = textsAt(ips, ['allowed'])
  const place = ips ? textsAt(root, ['spec', 'externalIPs']).findIndex(ip => !isIn(ip, allowed)) : -1
  if (place < 0) return
  const words =
    allowed.length === 0
      ? 'The current Tenant does not allow the use of Service with external IPs'
      : `The selected external IPs for the current Service are violating the following enforced CIDRs: ${allowed.join(', ')}`
  const path = ['spec', 'externalIPs', place]
  yield { path, what: 'it', field: EXTERNAL_IPS, words, value: stringAt(root, path) ?? '' }
}

const EXTERNAL_IPS = ['serviceOptions', 'externalIPs']

/** Whether an address is in one of the networks; Capsule reads one without a length as 32 bits, in version 6 too. */
function isIn(text: string, networks: readonly string[]): boolean {
  const address = parseAddress(text)
  return networks.some(network => {
    const [start = '', length = '32'] = network.split('/')
    const first = parseAddress(start)
    if (!address || first?.bits !== address.bits || Number(length) > first.bits) return false
    const rest = BigInt(first.bits - Number(length))
    return first.value >> rest === address.value >> rest
  })
}
