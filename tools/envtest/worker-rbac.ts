import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from './start.ts'

const FILE = join(import.meta.dirname, '../../deploy/worker-rbac.yaml')
const PATHS: Record<string, string> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: '/api/v1/namespaces/bailiwick-system/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/bailiwick-system/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/bailiwick-system/rolebindings',
}

interface Manifest {
  kind: string
  metadata: { name: string }
  subjects?: Json[]
}

/** Applies the documented rights of the worker, bound to the user of the test's worker kubeconfig as well. */
export async function applyWorkerRbac(cluster: Pick<TestCluster, 'request'>): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(FILE, 'utf8'))) {
    const object: Manifest = document.toJS()
    object.subjects?.push({ kind: 'User', name: 'bailiwick', apiGroup: 'rbac.authorization.k8s.io' })
    const path = PATHS[object.kind]
    if (!path) throw new Error(`deploy/worker-rbac.yaml: no path known for ${object.kind}`)
    const answer = await cluster.request('POST', path, object as unknown as Json)
    if (answer.status !== 201) throw new Error(`${object.kind} ${object.metadata.name}: ${JSON.stringify(answer.body)}`)
  }
}
