import type { TestCluster } from '../../../tools/envtest/start.ts'

/** What `flux bootstrap` leaves that nobody can give themselves: the platform's account and its rights. */
export async function bootstrap(cluster: TestCluster): Promise<void> {
  const metadata = (name: string, namespace?: string) => ({ name, ...(namespace ? { namespace } : {}) })
  await create(cluster, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: metadata('flux-system'),
  })
  await create(cluster, '/api/v1/namespaces/flux-system/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata('kustomize-controller', 'flux-system'),
  })
  await create(cluster, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: metadata('cluster-reconciler-flux-system'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'kustomize-controller', namespace: 'flux-system' }],
  })
}

async function create(cluster: TestCluster, path: string, body: Parameters<TestCluster['request']>[2]): Promise<void> {
  const { status, body: answer } = await cluster.request('POST', path, body)
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(answer)}`)
}
