import { inventoryName } from '../../../src/cluster/inventory.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { approvedNode } from '../approved-node.ts'
import { configMap, create } from '../cluster-under-test.ts'
import { definition } from '../flux-kinds.ts'

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1'
const OWNED = (namespace: string) => ({
  'kustomize.toolkit.fluxcd.io/name': 'app',
  'kustomize.toolkit.fluxcd.io/namespace': namespace,
})
const MERGE = { contentType: 'application/merge-patch+json' }

/** A small fleet on a cluster of its own name: a platform and two tenants with the same content. */
export interface CrashWorld {
  /** Its name is a part of each name in it. */
  readonly id: string
  readonly cluster: string
  /** Namespaces of the tenants. */
  readonly well: string
  readonly sick: string
  /** What is approved first, and what then. */
  readonly before: readonly ApprovedNode[]
  readonly after: readonly ApprovedNode[]
  /** Names of the inventories of the sick tenant. */
  readonly inventoriesOfSick: readonly string[]
}

export function crashWorld(id: string): CrashWorld {
  const [well, sick] = [`${id}-well`, `${id}-sick`]
  const world = { id, cluster: id, well, sick }
  const nodes = (isAfter: boolean) => [
    platform(world, isAfter),
    ...[well, sick].flatMap(tenant => tenantNodes(world, tenant, isAfter)),
  ]
  const inventoriesOfSick = ['app', 'old', 'sealed', 'paused'].map(name => inventoryName(`${id}/${sick}/${name}`))
  return { ...world, before: nodes(false), after: nodes(true), inventoriesOfSick }
}

type Place = Pick<CrashWorld, 'id' | 'cluster' | 'well' | 'sick'>

function platform({ id, cluster, well, sick }: Place, isAfter: boolean): ApprovedNode {
  const group = `${id}.crash.example`
  const of = (tenant: string): Json[] => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: tenant } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'dev', namespace: tenant } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'dev', namespace: tenant },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev', namespace: tenant }],
    },
    ...['app', 'paused', isAfter ? 'sealed' : 'old'].map(name => kustomization(tenant, name)),
    ...(isAfter ? [{ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'thing', namespace: tenant } }] : []),
  ]
  const objects = [...(isAfter ? [definition(group, 'Thing')] : []), ...of(well), ...of(sick)]
  const node = approvedNode('system:serviceaccount:flux-system:kustomize-controller', 'platform', objects)
  return at(node, { cluster, namespace: `${id}-flux`, tenant: null, revisionSet: String(isAfter) })
}

function kustomization(namespace: string, name: string): Json {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace },
    spec: { interval: '1h', path: `./${name}`, prune: true },
  }
}

function tenantNodes(world: Place, tenant: string, isAfter: boolean): ApprovedNode[] {
  const { id, cluster } = world
  const user = `system:serviceaccount:${tenant}:dev`
  const common = { cluster, namespace: tenant, tenant, parent: `${cluster}/${id}-flux/platform` }
  const node = (name: string, objects: readonly Json[], more: Partial<ApprovedNode> = {}) =>
    at(approvedNode(user, name, objects, more), { ...common, revisionSet: String(isAfter) })
  const app = node('app', isAfter ? appAfter(tenant) : appBefore(tenant))
  const paused = node('paused', [configMap(tenant, 'paused', { key: isAfter ? 'after' : 'before' })])
  if (!isAfter) return [app, paused, node('old', [configMap(tenant, 'old-1'), configMap(tenant, 'old-2')])]
  const settings = { ...app.settings, wait: true, force: true }
  return [{ ...app, settings }, paused, node('sealed', [openedSecret(tenant)], { confidential: [0] })]
}

const appBefore = (tenant: string): Json[] => [
  configMap(tenant, 'kept'),
  configMap(tenant, 'changed', { key: 'before' }),
  configMap(tenant, 'leaving'),
  { ...(configMap(tenant, 'frozen', { key: 'before' }) as object), immutable: true },
]

const appAfter = (tenant: string): Json[] => [
  configMap(tenant, 'kept'),
  configMap(tenant, 'changed', { key: 'after' }),
  configMap(tenant, 'taken', { key: 'after' }),
  { ...(configMap(tenant, 'frozen', { key: 'after' }) as object), immutable: true },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: tenant },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  },
]

/** A Secret as it was decrypted, whose values no message may quote. */
const openedSecret = (namespace: string): Json => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', namespace },
  data: { key: Buffer.from('value').toString('base64') },
  type: 'Opaque',
})

function at(node: ApprovedNode, place: Partial<ApprovedNode> & { cluster: string; namespace: string }): ApprovedNode {
  const { cluster, namespace } = place
  return { ...node, ...place, key: `${cluster}/${namespace}/${node.name}` }
}

/** What is there before: the platform's own Kustomization. */
export async function seedPlatform(server: TestCluster, { id }: CrashWorld): Promise<void> {
  await create(server, '/api/v1/namespaces', { metadata: { name: `${id}-flux` } })
  await create(
    server,
    `${KUSTOMIZATIONS}/namespaces/${id}-flux/kustomizations`,
    kustomization(`${id}-flux`, 'platform'),
  )
}

/** What people do between the two: keys, an object of kubectl, and one Kustomization of each tenant suspended by hand. */
export async function seedTenants(server: TestCluster, { well, sick }: CrashWorld): Promise<void> {
  for (const tenant of [well, sick]) {
    const collection = `/api/v1/namespaces/${tenant}`
    const taken = { metadata: { name: 'taken', labels: OWNED(tenant) }, data: { key: 'before', kubectl: 'x' } }
    await create(server, `${collection}/configmaps?fieldManager=kubectl-client-side-apply`, taken)
    const path = `${KUSTOMIZATIONS}/namespaces/${tenant}/kustomizations/paused?fieldManager=flux`
    await server.request('PATCH', path, { spec: { suspend: true } }, MERGE)
  }
}

/** Makes ReplicaSets ready, which nothing else here does. Ends when it is stopped. */
export async function runPods(server: TestCluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { body } = await server.request('GET', '/apis/apps/v1/replicasets').catch(() => ({ body: null }))
    for (const item of (body as { items?: Json[] } | null)?.items ?? []) {
      if ((item as { status?: { availableReplicas?: number } }).status?.availableReplicas === 1) continue
      const [namespace, name] = ['namespace', 'name'].map(field => stringAt(item, 'metadata', field))
      const generation = (item as { metadata: { generation: number } }).metadata.generation
      const ready = { replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
      const path = `/apis/apps/v1/namespaces/${namespace}/replicasets/${name}/status`
      const status = { ...ready, observedGeneration: generation }
      await server.request('PATCH', path, { status }, MERGE).catch(() => {})
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
