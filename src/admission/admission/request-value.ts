import { oncePer } from '../../base/once-per.ts'
import { CelAuthorizer } from '../../expr/libraries/authorizer.ts'
import { CelMap, type CelValue, fromJson, NotKnown } from '../../expr/values.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { at, type Json, type Node, toJson } from '../../kube/node.ts'
import { groupOf, KUBERNETES_NAMESPACES, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import { type AdmissionRequest, type AdmissionWorld, requestNamespace } from './admission-request.ts'
import { setDefaults } from './defaults.ts'

/** `request`, as the API server fills it for an apply (k8s.io/api/admission/v1 AdmissionRequest). */
export function requestValue(request: AdmissionRequest): CelMap {
  const { id, operation, user, resource } = request
  const namespace = requestNamespace(request)
  const group = groupOf(id.apiVersion)
  const version = id.apiVersion.slice(group === '' ? 0 : group.length + 1)
  const kind = mapOf({ group, version, kind: id.kind })
  const named = mapOf({ group, version, resource })
  return mapOf({
    uid: '',
    kind,
    resource: named,
    requestKind: kind,
    requestResource: named,
    name: id.name,
    // left out where it is empty, as in JSON
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: mapOf({ username: user.name, groups: user.groups }),
    dryRun: false,
    options: new NotKnown('request.options is set by the client that applies the object'),
  })
}

/** `authorizer`, for who asks. */
export function authorizerValue(world: AdmissionWorld, request: AdmissionRequest): CelAuthorizer {
  const { id, resource } = request
  const namespace = requestNamespace(request)
  const asked = {
    ...{ apiGroup: groupOf(id.apiVersion), resource, name: id.name },
    ...(namespace === '' ? {} : { namespace }),
  }
  return new CelAuthorizer(request.user, world.authorize, asked)
}

function mapOf(fields: Readonly<Record<string, CelValue>>): CelMap {
  return new CelMap(new Map(Object.entries(fields).map(([key, value]) => [`s${key}`, [key, value] as const])))
}

/** Fields of `metadata` that the API server fills in before admission. */
const OF_SERVER = ['uid', 'generation', 'creationTimestamp', 'managedFields', 'resourceVersion', 'selfLink']

/**
 * An object as admission sees it: with the defaults of Kubernetes' own kinds, and with unknown values where only the cluster
 * has them.
 */
const objectValue = oncePer((object: KubeObject): CelValue => {
  const json = toJson(object.root) as { [key: string]: Json }
  setDefaults(kindOf(object), json)
  const value = withUnknown(fromJson(json), object.root)
  const entries = new Map((value as CelMap).entries)
  if (object.sealed) for (const key of ['data', 'stringData']) put(entries, key, 'its values are encrypted')
  put(entries, 'status', 'status', true)
  const metadata = entries.get('smetadata')?.[1]
  if (metadata instanceof CelMap) {
    const fields = new Map(metadata.entries)
    for (const key of OF_SERVER) put(fields, key, `metadata.${key}`, true)
    entries.set('smetadata', ['metadata', new CelMap(fields)])
  }
  return new CelMap(entries)
})

/** An object as the policies of a world see it; in a policy test as it is written. */
export function objectValueIn(world: Pick<AdmissionWorld, 'given'>, object: KubeObject): CelValue {
  return world.given ? withUnknown(fromJson(toJson(object.root)), object.root) : objectValue(object)
}

function put(entries: Map<string, readonly [CelValue, CelValue]>, key: string, what: string, always = false): void {
  if (!always && !entries.has(`s${key}`)) return
  const why = always ? `${what} is set by the cluster` : what
  entries.set(`s${key}`, [key, new NotKnown(why)])
}

/** Replaces values that only the cluster can substitute by unknown values, and restores large integers. */
function withUnknown(value: CelValue, node: Node): CelValue {
  if (node.type === 'scalar') {
    if (node.opaque) return new NotKnown('a value that only the cluster has')
    // plain JSON cannot represent large integers
    return typeof node.value === 'bigint' ? node.value : value
  }
  if (!isSpecial(node)) return value
  if (node.type === 'list') {
    return Array.isArray(value) ? value.map((item, index) => withUnknown(item, node.items[index]!)) : value
  }
  if (!(value instanceof CelMap)) return value
  const entries = new Map(value.entries)
  for (const [key, { value: child }] of node.fields) {
    const entry = entries.get(`s${key}`)
    if (entry) entries.set(`s${key}`, [key, withUnknown(entry[1], child)])
  }
  return new CelMap(entries)
}

/** Whether the node contains a value that plain JSON cannot represent. */
function isSpecial(node: Node): boolean {
  if (node.type === 'scalar') return node.opaque !== undefined || typeof node.value === 'bigint'
  if (node.type === 'list') return node.items.some(isSpecial)
  return [...node.fields.values()].some(field => isSpecial(field.value))
}

const NAME_LABEL = 'kubernetes.io/metadata.name'
/** Namespaces that Kubernetes and Flux make, without labels of anyone else. */
const WITHOUT_LABELS = new Set(['default', ...KUBERNETES_NAMESPACES, ROOT_NAMESPACE])

/** Labels of an object; what no fleet shows is not complete. */
export interface KnownLabels {
  readonly labels: ReadonlyMap<string, string>
  readonly isComplete: boolean
}

/** The labels of the namespace of a request; undefined where it is in none. */
export function namespaceLabelsOf(world: AdmissionWorld, request: AdmissionRequest): KnownLabels | undefined {
  const { id } = request
  if (isNamespace(request)) {
    return { labels: new Map([...labelsOf(request.object), [NAME_LABEL, id.name]]), isComplete: true }
  }
  if (!request.isNamespaced) return undefined
  const object = world.object('/Namespace', '', id.namespace)
  const written = object ? labelsOf(object) : []
  return {
    labels: new Map([...written, [NAME_LABEL, id.namespace]]),
    isComplete: object !== undefined || WITHOUT_LABELS.has(id.namespace) || world.given !== undefined,
  }
}

const isNamespace = ({ id }: AdmissionRequest): boolean => id.kind === 'Namespace' && id.apiVersion === 'v1'

export function labelsOf(object: KubeObject): ReadonlyMap<string, string> {
  return textMapOf(at(object.root, ['metadata', 'labels'])) ?? new Map()
}

/** `namespaceObject`: null for what is in no namespace. */
export function namespaceValue(world: AdmissionWorld, request: AdmissionRequest): CelValue {
  if (!request.isNamespaced || isNamespace(request)) return null
  const { namespace } = request.id
  const object = world.object('/Namespace', '', namespace)
  if (object) return objectValueIn(world, object)
  const why = `Namespace ${namespace} is not in the fleet`
  const of = (fields: Readonly<Record<string, CelValue>>) =>
    new CelMap(new Map(Object.entries(fields).map(([key, value]) => [`s${key}`, [key, value] as const])))
  if (world.given) return of({ metadata: of({ name: namespace }) })
  const unknown = new NotKnown(why)
  const metadata = of({ name: namespace, labels: unknown, annotations: unknown, uid: unknown })
  return of({ apiVersion: 'v1', kind: 'Namespace', metadata, spec: unknown, status: unknown })
}
