import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { itemsAt, stringAt } from '../../src/cluster/json.ts'
import { openArtifacts } from '../../tools/envtest/artifacts.ts'
import { startKustomizeController } from '../../tools/envtest/flux-controller.ts'
import type { TestCluster } from '../../tools/envtest/start.ts'
import type { BenchNode } from './bench-fleet.ts'

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1'
/** As many at once as the worker has lanes, and no limit of its own on requests. */
const FLAGS = ['--concurrent=16', '--kube-api-qps=1000', '--kube-api-burst=2000']
const POLL_MS = 250

/** What one push took. */
export interface Push {
  readonly seconds: number
  /** Requests that the API server served meanwhile, by verb; our own are not counted. */
  readonly verbs: Readonly<Record<string, number>>
}

/** The real kustomize-controller: the same objects, one GitRepository for each namespace. */
export interface ControllerUnderBench {
  /** Pushes these objects, and waits until every Kustomization has this revision. */
  push(nodes: readonly BenchNode[], revision: number): Promise<Push>
  stop(): Promise<void>
}

export async function startController(cluster: TestCluster): Promise<ControllerUnderBench> {
  const artifacts = await openArtifacts(cluster)
  const controller = await startKustomizeController(cluster, { flags: FLAGS })
  return {
    async push(nodes, revision) {
      const before = await servedBy(cluster)
      const start = performance.now()
      const said = `main@sha1:${String(revision).padStart(40, '0')}`
      for (const [namespace, some] of Map.groupBy(nodes, node => node.namespace)) {
        const files = some.map(({ name, objects }) => [
          `${name}/all.yaml`,
          objects.map(one => stringify(one)).join('---\n'),
        ])
        await artifacts.put({ namespace, name: 'bench' }, said, Object.fromEntries(files))
      }
      await createKustomizations(cluster, nodes)
      let polls = 0
      for (; ; polls++) {
        if ((await appliedAt(cluster, said)) >= nodes.length) break
        await sleep(POLL_MS)
      }
      const seconds = (performance.now() - start) / 1000
      const verbs = difference(before, await servedBy(cluster))
      return { seconds, verbs: { ...verbs, LIST: (verbs.LIST ?? 0) - polls - 1 } }
    },
    async stop() {
      await controller.stop()
      await artifacts.close()
    },
  }
}

/** Creates what is missing. `suspend` in the sense of nobody: whoever runs applies them. */
export async function createKustomizations(cluster: TestCluster, nodes: readonly BenchNode[]): Promise<void> {
  for (const { namespace, name } of nodes) {
    const { status, body } = await cluster.request('POST', `${KUSTOMIZATIONS}/namespaces/${namespace}/kustomizations`, {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { namespace, name },
      spec: {
        interval: '1h',
        prune: true,
        path: `./${name}`,
        serviceAccountName: 'reconciler',
        sourceRef: { kind: 'GitRepository', name: 'bench' },
      },
    })
    if (status !== 201 && status !== 409) throw new Error(JSON.stringify(body))
  }
}

async function appliedAt(cluster: TestCluster, revision: string): Promise<number> {
  const { body } = await cluster.request('GET', `${KUSTOMIZATIONS}/kustomizations`)
  return itemsAt(body, 'items').filter(one => stringAt(one, 'status', 'lastAppliedRevision') === revision).length
}

/** Finished requests of the API server since its start, by verb; watches go on and are not among them. */
async function servedBy(cluster: TestCluster): Promise<Record<string, number>> {
  const { body } = await cluster.request('GET', '/metrics')
  const verbs: Record<string, number> = {}
  for (const line of String(body).split('\n')) {
    const [, labels, count] = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line) ?? []
    const [, verb = ''] = /verb="([A-Z]+)"/.exec(labels ?? '') ?? []
    const isObject = !/resource="(?:leases|gitrepositories)"/.test(labels ?? '')
    if (isObject && ['GET', 'LIST', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'].includes(verb))
      verbs[verb] = (verbs[verb] ?? 0) + Number(count)
  }
  return verbs
}

function difference(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const entries = Object.entries(after).map(([verb, count]) => [verb, count - (before[verb] ?? 0)] as const)
  return Object.fromEntries(entries.filter(([, count]) => count > 0))
}
