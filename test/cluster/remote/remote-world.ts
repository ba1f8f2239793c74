import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { dirname, join } from 'node:path'
import type { RemoteServer } from '../../../src/cluster/cluster-settings.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import { RemoteClients } from '../../../src/cluster/remote/remote-clients.ts'
import { DEFAULT_SETTINGS, type KubeConfigSetting } from '../../../src/flux/apply-settings.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { AppliedNode } from '../../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { applyApproved } from '../../../workers/apply/apply-approved.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { approvedNode, approvedOf } from '../approved-node.ts'
import { type ClusterUnderTest, create, createTenant, startUnderTest } from '../cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from '../fault-proxy.ts'

/** As which the cluster behind the Secret `edge` is evaluated. */
export const EDGE = 'staging -> kubeconfig apps/edge'
export const SECRET: KubeConfigSetting = { kind: 'Secret', name: 'edge', key: '' }

/** Two clusters: what is applied on one of them leads to the other, or by a proxy back to itself. */
export interface RemoteWorld {
  readonly home: ClusterUnderTest
  readonly edge: TestCluster
  /** Before the home cluster, as Capsule's proxy is; and before the other one. */
  readonly proxy: FaultProxy
  readonly edgeProxy: FaultProxy
  readonly homeAddress: string
  readonly edgeAddress: string
  readonly homeCa: string
  readonly edgeCa: string
  /** The account `dev-team` of the namespace `apps`, and a token of it. */
  readonly user: string
  readonly token: string
  readonly edgeToken: string
  listed(): RemoteServer[]
  stop(): Promise<void>
}

export async function startWorld(): Promise<RemoteWorld> {
  const home = await startUnderTest()
  const edge = await startCluster({ workerRbac: false })
  const proxy = await startFaultProxy(home.server)
  const edgeProxy = await startFaultProxy(edge)
  const user = await createTenant(home.server, 'apps', 'dev-team')
  await createTenant(edge, 'apps', 'dev-team')
  const path = '/api/v1/namespaces/apps/serviceaccounts/dev-team/token'
  const answer = await home.server.request('POST', path, { spec: { expirationSeconds: 3600 } })
  const homeCa = join(dirname(home.server.workerKubeconfig), 'certs', 'apiserver.crt')
  const edgeCa = join(dirname(edge.workerKubeconfig), 'certs', 'apiserver.crt')
  const [homeAddress, edgeAddress] = [proxy, edgeProxy].map(
    one => kubeconfigAt(one.kubeconfig).clusters[0]!.cluster.server,
  )
  return {
    ...{ home, edge, proxy, edgeProxy, user, homeCa, edgeCa },
    homeAddress: homeAddress!,
    edgeAddress: edgeAddress!,
    token: stringAt(answer.body, 'status', 'token'),
    edgeToken: kubeconfigAt(edge.adminKubeconfig).users[0]!.user.token,
    listed: () => [
      { server: homeAddress!, cluster: 'staging', ca: homeCa },
      { server: edgeAddress!, cluster: EDGE, ca: edgeCa },
    ],
    async stop() {
      await proxy.close()
      await edgeProxy.close()
      await edge.stop()
      await home.stop()
    },
  }
}

interface KubeConfigFile {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[]
  readonly users: readonly { readonly user: { readonly token: string } }[]
}

export const kubeconfigAt = (path: string): KubeConfigFile => JSON.parse(readFileSync(path, 'utf8'))

/** A kubeconfig as a Secret holds it. */
export function kubeconfig(server: string, user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { server, ...cluster } }],
    users: [{ name: 'default', user }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    'current-context': 'default',
  })
}

/** Writes the Secret or ConfigMap, as whoever put it on the cluster. */
export async function write(
  { home }: RemoteWorld,
  name: string,
  data: Record<string, string>,
  kind: 'secrets' | 'configmaps' = 'secrets',
): Promise<void> {
  const path = `/api/v1/namespaces/apps/${kind}`
  await home.server.request('DELETE', `${path}/${name}`)
  await create(home.server, path, { metadata: { name }, [kind === 'secrets' ? 'stringData' : 'data']: data })
}

/** A node of the tenant that reaches the home cluster by a kubeConfig. */
export function byProxy(world: RemoteWorld, name: string, objects: readonly Json[], more: Partial<ApprovedNode> = {}) {
  const settings = {
    ...DEFAULT_SETTINGS,
    kubeConfig: { kind: 'Secret', name: 'gitops-kubeconfig', key: 'kubeconfig' },
  } as const
  return approvedNode(world.user, name, objects, { settings, ...more })
}

/** A node of the platform that is applied to the other cluster. */
export function onEdge(name: string, objects: readonly Json[], more: Partial<ApprovedNode> = {}): ApprovedNode {
  const elsewhere = { cluster: EDGE, hub: 'staging', tenant: null, impersonated: false }
  const settings = { ...DEFAULT_SETTINGS, kubeConfig: SECRET }
  return approvedNode('kubeconfig apps/edge', name, objects, { ...elsewhere, settings, ...more })
}

export function memoryOf(world: RemoteWorld, listed: readonly RemoteServer[] = world.listed()): ClusterMemory {
  return new ClusterMemory({ remotes: new RemoteClients(world.home.client, listed), patienceMs: 10_000 })
}

/** What became of the nodes, beside a root that renders them all. */
export async function run(
  { home, user }: RemoteWorld,
  nodes: readonly ApprovedNode[],
  memory: ClusterMemory,
): Promise<AppliedNode[]> {
  const root = approvedNode(user, 'root', [])
  const all = [root, ...nodes.map(node => ({ ...node, parent: root.key }))]
  const said = await applyApproved(home.client, approvedOf(all), AbortSignal.timeout(60_000), memory)
  return said.filter(({ key }) => key !== root.key)
}

/** A server that nobody lists: counts who comes. */
export async function startStranger(
  ca: string,
): Promise<{ readonly address: string; readonly came: string[]; close(): void }> {
  const came: string[] = []
  const key = readFileSync(ca.replace(/crt$/, 'key'))
  const server = createServer({ cert: readFileSync(ca), key }, (incoming, outgoing) => {
    came.push(`${incoming.method} ${incoming.url}`)
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.on('connection', () => came.push('connection'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it does not listen')
  return { address: `https://127.0.0.1:${address.port}`, came, close: () => void server.close() }
}

/** A file beside those of the cluster. */
export function writeBeside(path: string, name: string, text: string): string {
  const file = join(dirname(path), name)
  writeFileSync(file, text)
  return file
}
