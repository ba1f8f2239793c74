import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, isTrue, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { textMapOf } from '../../../kube/read-text.ts'
import { pullPolicyOf } from '../../../policy/admission/defaults.ts'
import { containersOf, type Pod } from '../../workloads/support/pod-parts.ts'
import { podsOf } from '../../workloads/support/pods-of.ts'
import { allowedWords, forbiddenKey, goMatches, isAllowedBy, listedWords } from './capsule-list.ts'
import { listAt, textsAt } from './list-at.ts'

/** What Capsule's webhooks refuse of an object in a namespace of a Tenant. */
export interface CapsuleRefusal {
  readonly path: Path
  /** What Capsule refuses: the object, or what a controller of Kubernetes makes of it. */
  readonly what: 'it' | 'its Pods' | 'its PersistentVolumeClaims'
  /** Field of the Tenant. */
  readonly field: Path
  /** In Capsule's words; undefined where the answer depends on what only the cluster knows. */
  readonly words: string | undefined
  readonly value: string
}

/** Where the answer is looked for. */
interface Place {
  readonly index: FleetIndex
  readonly cluster: string
  /** The Tenant's. */
  readonly spec: Node
  readonly tenant: string
  /** The minor version of Capsule. */
  readonly version: number
}

/** What Capsule refuses, whoever asks for it (internal/webhook/pod, pvc, ingress, service and gateway of Capsule). */
export function* refusedFields(subject: Subject, place: Place): Iterable<CapsuleRefusal> {
  for (const pod of podsOf(subject, place.index))
    yield* refusedPod(pod, place, subject.kind === '/Pod' ? 'it' : 'its Pods')
  yield* refusedClaims(subject, place)
  const { root } = subject.object
  if (/\/Ingress$/.test(subject.kind)) yield* refusedIngress(root, place)
  if (subject.kind === '/Service') yield* refusedService(root, place)
  if (subject.kind === 'gateway.networking.k8s.io/Gateway') {
    yield* refusedClass(root, ['spec', 'gatewayClassName'], place, {
      field: 'gatewayOptions.allowedClasses',
      kind: 'gateway.networking.k8s.io/GatewayClass',
      said: name => `Gateway Class ${name} is forbidden for the current Tenant: `,
      missing:
        'No gateway Class is forbidden for the current Tenant. Specify a gateway Class which is allowed within the Tenant: ',
    })
  }
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
  for (const [field, kind, list, title] of CLASSES) {
    for (const one of refusedClass(pod.spec, [field], place, {
      field: list,
      kind,
      said: name => `Pod ${title} Class ${name} is forbidden for the current Tenant: `,
    })) {
      yield { ...one, what, path: [...pod.path, field] }
    }
  }
}

const CLASSES = [
  ['priorityClassName', 'scheduling.k8s.io/PriorityClass', 'priorityClasses', 'Priority'],
  ['runtimeClassName', 'node.k8s.io/RuntimeClass', 'runtimeClasses', 'Runtime'],
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
  return `Container image ${shown} registry is forbidden for the current Tenant: ${listedWords(list).join(' or ')}`
}

/** How Capsule speaks of a class. */
interface ClassWords {
  /** In `spec` of the Tenant, with dots. */
  readonly field: string
  readonly kind: string
  readonly said: (name: string) => string
  /** Where the object names none and the Tenant has no default; absent: that is allowed. */
  readonly missing?: string
}

function* refusedClass(root: Node, path: Path, place: Place, words: ClassWords): Iterable<CapsuleRefusal> {
  const field = words.field.split('.')
  const list = at(place.spec, field)
  if (list?.type !== 'map') return
  const name = stringAt(root, path)
  const base = { path, what: 'it' as const, field }
  if (name === undefined) {
    if (words.missing !== undefined && !stringAt(list, ['default']))
      yield { ...base, words: words.missing + allowedWords(list), value: 'no class' }
    return
  }
  const allowed = isAllowedBy(list, name, { index: place.index, cluster: place.cluster, kind: words.kind })
  if (allowed === true) return
  yield { ...base, words: allowed === undefined ? undefined : words.said(name) + allowedWords(list), value: name }
}

const STORAGE: ClassWords = {
  field: 'storageClasses',
  kind: 'storage.k8s.io/StorageClass',
  said: name => `Storage Class ${name} is forbidden for the current Tenant `,
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
    // the API server may fill in the default class of the cluster before Capsule is asked
    if (stringAt(claim, ['storageClassName']) === undefined && !stringAt(list, ['default']))
      yield { path, what, field: ['storageClasses'], words: undefined, value: 'no class' }
    for (const one of refusedClass(claim, ['storageClassName'], place, STORAGE))
      yield { ...one, what, path: [...path, 'storageClassName'] }
  }
}

const INGRESS_CLASS = ['metadata', 'annotations', 'kubernetes.io/ingress.class']

function* refusedIngress(root: Node, place: Place): Iterable<CapsuleRefusal> {
  const path =
    stringAt(root, ['spec', 'ingressClassName']) === undefined && at(root, INGRESS_CLASS)
      ? INGRESS_CLASS
      : ['spec', 'ingressClassName']
  yield* refusedClass(root, path, place, {
    field: 'ingressOptions.allowedClasses',
    kind: 'networking.k8s.io/IngressClass',
    said: name => `Ingress Class ${name} is forbidden for the current Tenant: `,
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

const TYPES = [
  ['NodePort', 'nodePort'],
  ['ExternalName', 'externalName'],
  ['LoadBalancer', 'loadBalancer'],
] as const

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
    const found = forbiddenKey(at(spec, ['serviceOptions', option]), keys)
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
}
