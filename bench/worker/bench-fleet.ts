import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import type { TestCluster } from '../../tools/envtest/start.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'

export const CLUSTER = 'bench'
const TENANTS = 20
const OBJECTS = 4

/** How many Kustomizations with how many objects each, and what is written into one of them. */
export interface Shape {
  readonly nodes: number
  readonly objects?: number
  /** A prefix of all names, so that one cluster holds several fleets. */
  readonly prefix: string
  readonly revision: number
  /** The node whose content is another in this revision. */
  readonly changed?: number
}

export interface BenchNode {
  readonly name: string
  readonly namespace: string
  readonly user: string
  readonly objects: readonly Json[]
}

/** The content of a fleet: a ConfigMap, a ServiceAccount, a Role and a Deployment for each node, or ConfigMaps only. */
export function benchNodes({ nodes, objects = OBJECTS, prefix, changed, revision }: Shape): BenchNode[] {
  return Array.from({ length: nodes }, (_, index) => {
    const namespace = `bench-${index % TENANTS}`
    const name = `${prefix}-${index}`
    const text = index === changed ? `changed ${revision}` : 'x'.repeat(300)
    const made = objects === OBJECTS ? fourOf(namespace, name, text) : mapsOf(namespace, name, text, objects)
    return { name, namespace, user: `system:serviceaccount:${namespace}:reconciler`, objects: made }
  })
}

/** What an evaluation of that fleet would have approved. */
export function approvedOf(shape: Shape): Approved {
  const revisionSet = `${shape.prefix} ${shape.revision}`
  const apply = benchNodes(shape).map(({ name, namespace, user, objects }): ApprovedNode => {
    const texts = objects.map(object => JSON.stringify(object))
    return {
      key: `${CLUSTER}/${namespace}/${name}`,
      cluster: CLUSTER,
      namespace,
      name,
      parent: null,
      user,
      impersonated: true,
      tenant: namespace,
      source: { id: `GitRepository/${namespace}/fleet`, url: '', commit: String(shape.revision), opaque: null },
      dependsOn: [],
      suspend: false,
      prune: true,
      settings: DEFAULT_SETTINGS,
      digest: digestOfTexts(texts),
      applyDigest: digestOfTexts([user, ...texts]),
      objects: texts,
      revisionSet,
    }
  })
  const nodes = apply.map(node => ({ ...node, findings: [], failures: [], hides: [], refused: [] }))
  const fleetCommit = String(shape.revision)
  return { nodes, evaluation: { nodes } as unknown as Approved['evaluation'], apply, held: [], fleetCommit }
}

/** The namespaces of the tenants, each with an account that is cluster-admin there. */
export async function createTenants(server: TestCluster): Promise<void> {
  const create = async (path: string, object: Json) => {
    const { status, body } = await server.request('POST', path, object)
    if (status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(body)}`)
  }
  for (let index = 0; index < TENANTS; index++) {
    const namespace = `bench-${index}`
    await create('/api/v1/namespaces', { metadata: { name: namespace } })
    await create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'reconciler' } })
    await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'reconciler' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'reconciler', namespace }],
    })
  }
}

function mapsOf(namespace: string, name: string, text: string, count: number): Json[] {
  return Array.from({ length: count }, (_, index) => configMap(namespace, `${name}-${index}`, text))
}

function fourOf(namespace: string, name: string, text: string): Json[] {
  const metadata = { namespace, name }
  const labels = { app: name }
  return [
    configMap(namespace, name, text),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: name, containers: [{ name: 'app', image: 'registry.local/app:1' }] },
        },
      },
    },
  ]
}

function configMap(namespace: string, name: string, text: string): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { text } }
}
