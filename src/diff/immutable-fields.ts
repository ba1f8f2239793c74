import { groupOf, type ObjectId } from '../kube/object.ts'
import type { Operation } from './diff-nodes.ts'

const SELECTOR = ['spec.selector']
const ROLE_REF = ['roleRef']

/** Fields that the API server does not let anybody change, by group and kind. Source: k8s.io/kubernetes pkg/apis/<group>/validation. */
const FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['apps/Deployment', SELECTOR],
  ['apps/DaemonSet', SELECTOR],
  ['apps/ReplicaSet', SELECTOR],
  ['apps/StatefulSet', [...SELECTOR, 'spec.serviceName', 'spec.volumeClaimTemplates', 'spec.podManagementPolicy']],
  ['batch/Job', [...SELECTOR, 'spec.template', 'spec.completionMode', 'spec.podFailurePolicy']],
  ['rbac.authorization.k8s.io/RoleBinding', ROLE_REF],
  ['rbac.authorization.k8s.io/ClusterRoleBinding', ROLE_REF],
  ['/Secret', ['type']],
  ['/PersistentVolumeClaim', ['spec.accessModes', 'spec.storageClassName', 'spec.volumeMode', 'spec.selector']],
  ['storage.k8s.io/StorageClass', ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode']],
  ['scheduling.k8s.io/PriorityClass', ['value', 'preemptionPolicy']],
  ['networking.k8s.io/IngressClass', ['spec.controller']],
])

/** Whether the API server refuses one of the differences of an object: it can only be deleted and made anew. */
export function changesImmutable({ apiVersion, kind }: ObjectId, operations: readonly Operation[]): boolean {
  const fields = FIELDS.get(`${groupOf(apiVersion)}/${kind}`) ?? []
  return operations.some(({ path, was }) => {
    // one that is written now and was not may be the default that the API server had put there
    if (!was && path.length <= 2) return false
    const [first, second] = path
    return fields.includes(String(first)) || fields.includes(`${String(first)}.${String(second)}`)
  })
}
