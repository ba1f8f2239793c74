import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { jsonAt, mapAt } from '../../../src/cluster/json.ts'
import type { Tree } from '../../../src/git/tree.ts'
import type { Json } from '../../../src/kube/node.ts'
import { filesBelow, textAt } from '../../../src/tenants/offboard/edited-tree.ts'
import { everyObject } from '../../../tools/envtest/every-object.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { applyApproved } from '../../../workers/apply/apply-approved.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { binding } from '../../cluster/cluster-under-test.ts'
import { EVERY_PRUNE } from '../../cluster/status/worker-world.ts'
import { inputOf } from '../../fleet/fleet-of.ts'
import { approvedOfFleet } from '../../fleet/fleets/reconciled-fleet.ts'
import { FLEET_URL, type RandomFleet, type RandomTenant } from './random-fleet.ts'

const MERGE = { contentType: 'application/merge-patch+json' }
const LIMIT_MS = 60_000
/** The API server, its controllers and the worker write these for themselves. */
const KEPT =
  /^(?:Event|Lease|Endpoints|EndpointSlice|APIService|IPAddress) | bailiwick-system\/|ConfigMap kube-system\//

/** What an object is known by, as text; its version too where nobody may touch it. */
export type Standing = ReadonlyMap<string, string>

/** One cluster of a fleet on a real API server, which the worker brings to each tree that is merged. */
export interface FleetOnCluster {
  /** Applies what a commit has, until `isDone`; the answer is what there is of a tenant then. Fails with what it is instead. */
  merged(tree: Tree, tenant: RandomTenant, isDone: (names: readonly string[]) => boolean): Promise<readonly string[]>
  /** As if kustomize-controller had applied the fleet before. */
  holdByFinalizers(): Promise<void>
  /** What stands on the cluster and is not of that tenant. */
  others(tenant: RandomTenant): Promise<Standing>
  close(): Promise<void>
}

export async function fleetOnCluster(
  server: TestCluster,
  { tenants }: RandomFleet,
  cluster: string,
): Promise<FleetOnCluster> {
  const client = await connect(binding(cluster, server.workerKubeconfig))
  const memory = new ClusterMemory()
  const sources = tenants.map(tenant => ({ url: `https://github.com/acme/${tenant.name}`, files: workloads(tenant) }))
  let commit = 0
  const run = async (tree: Tree) => {
    const fleet = Object.fromEntries(filesBelow(tree, '').map(path => [path, textAt(tree, path)!]))
    const of = { url: FLEET_URL, fleet, sources, commit: String(commit).padStart(40, 'f') }
    const approved = approvedOfFleet(inputOf(of), cluster)
    if (approved.held.length > 0) throw new Error(`held: ${JSON.stringify(approved.held)}`)
    for (const { key } of approved.apply) memory.suspect(key)
    return applyApproved(client, { ...approved, prunes: EVERY_PRUNE }, AbortSignal.timeout(LIMIT_MS), memory)
  }
  return {
    async merged(tree, tenant, isDone) {
      commit += 1
      for (const start = Date.now(); ; ) {
        const said = await run(tree)
        const names = [...(await everyObject(server)).keys()].filter(name => isOf(name, tenant))
        const isApplied = said.every(({ outcome }) => outcome === 'applied')
        if (isApplied && isDone(names)) return names
        if (Date.now() - start > LIMIT_MS) throw new Error(JSON.stringify([said, names]))
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    },
    async holdByFinalizers() {
      const path = '/apis/kustomize.toolkit.fluxcd.io/v1'
      const patch = { metadata: { finalizers: ['finalizers.fluxcd.io'] } }
      for (const name of (await everyObject(server)).keys()) {
        const [, namespace, of] = /^Kustomization ([^/]+)\/(.+)$/.exec(name) ?? []
        if (of) await server.request('PATCH', `${path}/namespaces/${namespace}/kustomizations/${of}`, patch, MERGE)
      }
    },
    async others(tenant) {
      const all = [...(await everyObject(server))].filter(([name]) => !isOf(name, tenant) && !isKept(name, tenants))
      return new Map(all.map(([name, object]) => [name, standing(name, object)]))
    },
    async close() {
      client.close()
      await memory.close()
      await removeAll(server, client, tenants)
    },
  }
}

const isOf = (name: string, { namespaces }: RandomTenant) =>
  namespaces.some(one => name.includes(` ${one}/`) || name.endsWith(` ${one}`))

/** Of the programs, or of another fleet, whose Namespaces may still be going. */
function isKept(name: string, tenants: readonly RandomTenant[]): boolean {
  return KEPT.test(name) || (/ f\d+-team-/.test(name) && !tenants.some(tenant => isOf(name, tenant)))
}

/** The platform's own Kustomizations tell which revision they are at; nobody writes anything else. */
function standing(name: string, object: Json): string {
  const { uid, resourceVersion, deletionTimestamp } = mapAt(object, 'metadata')
  const told = name.startsWith('Kustomization flux-system/') ? (jsonAt(object, 'spec') ?? null) : resourceVersion
  return JSON.stringify([uid, told, deletionTimestamp])
}

/** What a team's repository has, at every path that a Kustomization of it names. */
function workloads({ name, namespaces }: RandomTenant): Record<string, string> {
  const [namespace] = namespaces
  const objects = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app', namespace }, data: { team: name } },
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'app', namespace } },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
      },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'app', namespace } },
      spec: { ports: [{ port: 80 }] },
    },
  ]
  const app = objects.map(one => `---\n${JSON.stringify(one)}\n`).join('')
  const job = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'jobs', namespace }, data: {} }
  const list = 'resources: [app.yaml]\n'
  const places = ['east', 'west', 'north'].map(place => [`${place}/kustomization.yaml`, 'resources: [../base]\n'])
  return {
    ...{ 'kustomization.yaml': 'resources: [base]\n', 'base/kustomization.yaml': list, 'base/app.yaml': app },
    ...{ 'jobs/kustomization.yaml': 'resources: [job.yaml]\n', 'jobs/job.yaml': JSON.stringify(job) },
    ...Object.fromEntries(places),
  }
}

/** Nothing of this fleet is there for the next one; its Namespaces may still be going. */
async function removeAll(server: TestCluster, { name: cluster }: ClusterClient, tenants: readonly RandomTenant[]) {
  const flux = '/apis/kustomize.toolkit.fluxcd.io/v1'
  for (const one of (await everyObject(server)).keys()) {
    const [, namespace, name] = /^Kustomization ([^/]+)\/(.+)$/.exec(one) ?? []
    if (!name) continue
    const path = `${flux}/namespaces/${namespace}/kustomizations/${name}`
    await server.request('PATCH', path, { metadata: { finalizers: null } }, MERGE)
    await server.request('DELETE', path)
  }
  await server.request(
    'DELETE',
    `/api/v1/namespaces/bailiwick-system/configmaps?labelSelector=bailiwick.dev/cluster=${cluster}`,
  )
  for (const name of tenants.flatMap(({ namespaces }) => namespaces))
    await server.request('DELETE', `/api/v1/namespaces/${name}`)
}
