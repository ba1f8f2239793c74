import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RemoteServer } from '../../../src/cluster/cluster-settings.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { type FaultProxy, startFaultProxy } from '../../cluster/fault-proxy.ts'

const OWNER = { kind: 'ServiceAccount', namespace: 'dev-team', name: 'gitops-reconciler' }
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const CLUSTER_ADMIN = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }

/** Capsule as far as its tenant dev-team meets it: the proxy, its kubeconfig, and the rights of an owner. */
export interface Capsule {
  /** The proxy, as clusters.yaml lists it: what is applied through it is applied to the same cluster. */
  readonly kubeConfigs: readonly RemoteServer[]
  readonly proxy: FaultProxy
  /** Does what its controllers do, until it is stopped. */
  run(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

export async function startCapsule(server: TestCluster): Promise<Capsule> {
  const proxy = await startFaultProxy(server)
  const address: string = JSON.parse(readFileSync(proxy.kubeconfig, 'utf8')).clusters[0].cluster.server
  const ca = join(dirname(server.workerKubeconfig), 'certs', 'apiserver.crt')
  await owners(server)
  return {
    kubeConfigs: [{ server: address, cluster: 'staging', ca }],
    proxy,
    async run(signal) {
      while (!signal.aborted) {
        await giveKubeconfig(server, address)
        for (const namespace of ['apps', 'tools']) await giveNamespace(server, namespace)
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    },
    stop: () => proxy.close(),
  }
}

/** The ClusterRole `capsule-namespace-provisioner`, and what its proxy reads for owners. */
async function owners(server: TestCluster): Promise<void> {
  const metadata = { name: 'capsule-namespace-provisioner' }
  const rules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get', 'list', 'watch'] }]
  const roleRef = { ...CLUSTER_ADMIN, ...metadata }
  await server.request('POST', `${RBAC}/clusterroles`, { metadata, rules })
  await server.request('POST', `${RBAC}/clusterrolebindings`, { metadata, roleRef, subjects: [OWNER] })
}

/** The Secret that an admin makes for the proxy, as soon as there is the account. */
async function giveKubeconfig(server: TestCluster, address: string): Promise<void> {
  const secrets = '/api/v1/namespaces/dev-team/secrets'
  if ((await server.request('GET', `${secrets}/gitops-reconciler-kubeconfig`)).status === 200) return
  const path = `/api/v1/namespaces/dev-team/serviceaccounts/${OWNER.name}/token`
  const { status, body } = await server.request('POST', path, { spec: { expirationSeconds: 3600 } })
  if (status !== 201) return
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'default' },
    clusters: [{ name: 'default', cluster: { server: address } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    users: [{ name: 'default', user: { token: stringAt(body, 'status', 'token') } }],
  }
  const metadata = { name: 'gitops-reconciler-kubeconfig' }
  await server.request('POST', secrets, { metadata, stringData: { kubeconfig: JSON.stringify(config) } })
}

/** The RoleBindings of an owner, in a namespace that the tenant made. */
async function giveNamespace(server: TestCluster, namespace: string): Promise<void> {
  if ((await server.request('GET', `/api/v1/namespaces/${namespace}`)).status !== 200) return
  const path = `${RBAC}/namespaces/${namespace}/rolebindings`
  const binding: Json = { metadata: { name: 'dev-team-owner' }, roleRef: CLUSTER_ADMIN, subjects: [OWNER] }
  if ((await server.request('GET', `${path}/dev-team-owner`)).status === 404)
    await server.request('POST', path, binding)
}
