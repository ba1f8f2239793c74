import type { Origin } from '../base/origin.ts'
import { at, itemsOf, mapNode, type Path, textNode, withField } from '../kube/node.ts'
import { type KubeObject, POD_SPEC_PATHS } from '../kube/object.ts'
import { userInfo, userOfAccount } from '../kube/rbac/policy-rule.ts'
import type { AdmissionRequest, AdmissionWorld, PolicyRuleName } from './admission/admission-request.ts'
import { CLUSTER_POLICY, POLICY } from './kyverno/policy-rules.ts'

/** An image that a container of an object runs. */
export interface ImageUse {
  /** Of the field that holds it. */
  readonly path: Path
  readonly list: 'initContainers' | 'containers' | 'ephemeralContainers'
  /** As it is written; undefined where only the cluster knows it. */
  readonly written: string | undefined
}

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** Templates from which nothing runs by itself. */
const DORMANT = new Set(['/PodTemplate', 'batch/JobTemplate'])

/** The path of the Pod that an object of a kind runs; undefined for other kinds. */
function runningPodPath(kind: string): Path | undefined {
  return DORMANT.has(kind) ? undefined : POD_SPEC_PATHS.get(kind)
}

/** The kinds of Kubernetes that run containers, `<group>/<Kind>`. */
export const RUNNING_KINDS: readonly string[] = [...POD_SPEC_PATHS.keys()].filter(kind => !DORMANT.has(kind))

/** Every image that an object of a kind of Kubernetes runs, in the order of its containers. */
export function imageUses(kind: string, { root }: Pick<KubeObject, 'root'>): ImageUse[] {
  const pod = runningPodPath(kind)
  if (!pod) return []
  return LISTS.flatMap(list => {
    const items = itemsOf(at(root, [...pod, list]))
    return items.flatMap((item, index): ImageUse[] => {
      const image = at(item, ['image'])
      if (image?.type !== 'scalar' || image.value === null || image.value === '') return []
      const written = image.opaque ? undefined : String(image.value)
      return [{ path: [...pod, list, index, 'image'], list, written }]
    })
  })
}

/** A rule of a policy that verifies signatures of images, and that selects a Pod. */
export interface ImageRule extends PolicyRuleName {
  readonly origin: Origin
  /** It refuses images without a valid signature; else it only reports them. */
  readonly enforces: boolean
  /** Why it is not known whether it selects the Pod, or whether it enforces. */
  readonly why?: string
  verdict(use: ImageUse): ImageVerdict
}

/** Whether a rule asks for a signature of an image; `why`: the reason if it does not, or if that is not known. */
export type ImageVerdict =
  | { readonly state: 'verified' }
  | { readonly state: 'skipped' | 'unmatched' | 'unknown'; readonly why: string }

const GROUP = 'policies.kyverno.io'
export const IMAGE_POLICY = `${GROUP}/ImageValidatingPolicy`
export const NAMESPACED_IMAGE_POLICY = `${GROUP}/NamespacedImageValidatingPolicy`

/** Whether the platform of a cluster has a policy that verifies images. */
export function verifiesImages(world: AdmissionWorld): boolean {
  const hasEntries = ({ root }: KubeObject) =>
    itemsOf(at(root, ['spec', 'rules'])).some(rule => itemsOf(at(rule, ['verifyImages'])).length > 0)
  return (
    [CLUSTER_POLICY, POLICY].some(kind => world.policies(kind).some(hasEntries)) ||
    [IMAGE_POLICY, NAMESPACED_IMAGE_POLICY].some(kind => world.policies(kind).length > 0)
  )
}

/** The accounts by which the controllers of Kubernetes make Pods (k8s.io/kubernetes cmd/kube-controller-manager). */
const CONTROLLERS: ReadonlyMap<string, string> = new Map([
  ['/ReplicationController', 'replication-controller'],
  ['apps/Deployment', 'replicaset-controller'],
  ['apps/ReplicaSet', 'replicaset-controller'],
  ['apps/StatefulSet', 'statefulset-controller'],
  ['apps/DaemonSet', 'daemon-set-controller'],
  ['extensions/Deployment', 'replicaset-controller'],
  ['extensions/ReplicaSet', 'replicaset-controller'],
  ['extensions/DaemonSet', 'daemon-set-controller'],
  ['batch/Job', 'job-controller'],
  ['batch/CronJob', 'job-controller'],
])

const pods = new WeakMap<KubeObject, KubeObject>()

/** The request by which a controller creates an object's Pod; undefined for a Pod itself and for kinds without Pods. */
export function podRequest(kind: string, { object, id }: AdmissionRequest): AdmissionRequest | undefined {
  const controller = CONTROLLERS.get(kind)
  const path = runningPodPath(kind)
  if (!controller || !path) return undefined
  // the controller appends characters that only the cluster knows
  const name = `${id.name}-0`
  const pod = pods.get(object) ?? podOf(object, path, id.namespace, name)
  if (!pod) return undefined
  pods.set(object, pod)
  return {
    operation: 'CREATE',
    object: pod,
    id: { apiVersion: 'v1', kind: 'Pod', namespace: id.namespace, name },
    user: userInfo(userOfAccount('kube-system', controller)),
    resource: 'pods',
    isNamespaced: true,
  }
}

function podOf({ root }: KubeObject, path: Path, namespace: string, name: string): KubeObject | undefined {
  const spec = at(root, path)
  if (spec?.type !== 'map') return undefined
  const written = path.length > 1 ? at(root, [...path.slice(0, -1), 'metadata']) : undefined
  const { origin } = root
  const text = (value: string) => textNode(value, origin)
  const template = written?.type === 'map' ? written : mapNode([], origin)
  const metadata = withField(withField(template, 'name', text(name)), 'namespace', text(namespace))
  const fields = { apiVersion: text('v1'), kind: text('Pod'), metadata, spec }
  return { root: mapNode(Object.entries(fields), origin), trail: [] }
}
