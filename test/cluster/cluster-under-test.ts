import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Json } from '../../src/kube/node.ts'
import { findAssets, NO_ASSETS } from '../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../tools/envtest/start.ts'

/** A real API server, and the client under test connected to it with the worker's ordinary rights. */
export interface ClusterUnderTest {
  readonly server: TestCluster
  readonly client: ClusterClient
  stop(): Promise<void>
}

/** False, and said once per file, where no API server can be started. */
export function haveAssets(): boolean {
  const found = findAssets() !== undefined
  if (!found) console.warn(NO_ASSETS)
  return found
}

export async function startUnderTest(name = 'staging'): Promise<ClusterUnderTest> {
  const server = await startCluster()
  const client = await connect(binding(name, server.workerKubeconfig))
  return {
    server,
    client,
    async stop() {
      client.close()
      await server.stop()
    },
  }
}

export function binding(name: string, kubeconfig: string) {
  return {
    name,
    fleet: 'https://github.com/acme/fleet',
    branch: 'main',
    path: `clusters/${name}`,
    kubeconfig,
    mode: 'reconcile',
    namespace: 'bailiwick-system',
    resyncSeconds: 600,
  } as const
}

/** A namespace with an account that is cluster-admin in it, as `flux create tenant` makes it. */
export async function createTenant(server: TestCluster, namespace: string, account: string): Promise<string> {
  await create(server, '/api/v1/namespaces', { metadata: { name: namespace } })
  await create(server, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } })
  await create(server, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: `${account}-reconciler` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  })
  return `system:serviceaccount:${namespace}:${account}`
}

/** An account that may do everything: what the platform's own Kustomizations name. */
export async function createPlatformAccount(server: TestCluster): Promise<string> {
  await create(server, '/api/v1/namespaces', { metadata: { name: 'flux-system' } })
  await create(server, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'platform' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'kustomize-controller', namespace: 'flux-system' }],
  })
  return 'system:serviceaccount:flux-system:kustomize-controller'
}

export async function create(server: TestCluster, path: string, object: Json): Promise<Json> {
  const { status, body } = await server.request('POST', path, object)
  if (status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(body)}`)
  return body
}

export async function get(server: TestCluster, path: string): Promise<Json | undefined> {
  const { status, body } = await server.request('GET', path)
  if (status !== 200 && status !== 404) throw new Error(`GET ${path}: ${JSON.stringify(body)}`)
  return status === 404 ? undefined : body
}

export function configMap(namespace: string, name: string, data: Record<string, string> = { key: 'value' }): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}
