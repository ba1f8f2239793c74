import type { Subject } from '../../../facts/subject.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import { pullPolicyOf } from '../../../policy/admission/defaults.ts'
import { containersOf, type Pod } from '../../workloads/support/pod-parts.ts'
import { podsOf } from '../../workloads/support/pods-of.ts'
import { isAllowedBy, listedWords } from './capsule-list.ts'
import { listAt, textsAt } from './list-at.ts'
import { type CapsuleRefusal, type ClassWords, type Place, refusedClass } from './refused-class.ts'
import { refusedIngress } from './refused-ingress.ts'
import { refusedService } from './refused-service.ts'

/** What Capsule refuses, whoever asks for it (internal/webhook/pod, pvc, ingress, service and gateway of Capsule). */
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
      // the name of the Gateway is what Capsule writes there
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
    // the API server may fill in the default class of the cluster before Capsule is asked
    if (stringAt(claim, ['storageClassName']) === undefined && !stringAt(list, ['default']))
      yield { path, what, field: ['storageClasses'], words: undefined, value: 'no class' }
    for (const one of refusedClass(claim, ['storageClassName'], place, STORAGE))
      yield { ...one, what, path: [...path, 'storageClassName'] }
  }
}
