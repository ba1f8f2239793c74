import { mapNode, textNode, withField } from '../../kube/edit-node.ts'
import { at, type Path } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { userInfo, userOfAccount } from '../../kube/rbac/groups-of.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import { runningPodPath } from './image-uses.ts'

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

/** The request by which a controller creates the Pod of an object; undefined for a Pod itself and for what makes none. */
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
