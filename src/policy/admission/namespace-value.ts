import { CelMap, type CelValue, NotKnown } from '../../cel/values.ts'
import { ROOT_NAMESPACE } from '../../flux/kinds.ts'
import { KUBERNETES_NAMESPACES } from '../../kube/names.ts'
import { at } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-text.ts'
import type { AdmissionRequest } from './admission-request.ts'
import type { AdmissionWorld } from './admission-world.ts'
import { objectValueIn } from './object-value.ts'

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
