import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
import { RemoteClients } from '../../../src/cluster/remote/remote-clients.ts'
import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import type { Json } from '../../../src/kube/node.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { configMap, create, createTenant } from '../cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
  until,
} from '../status/flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from '../status/worker-world.ts'
import { kubeconfig, kubeconfigAt } from './remote-world.ts'

const NAMES = { secretRef: 'edge', key: 'kubeconfig' }
const commitOf = (step: number) => 'abcdef'[step]!.repeat(40)

/** What a case writes into git, step by step, and as which account it is applied; '' for that of the kubeconfig. */
const CASES: Readonly<Record<string, { readonly account: string; readonly steps: readonly (readonly string[])[] }>> = {
  'as the kubeconfig says': { account: '', steps: [['one', 'two'], ['one']] },
  'as an account that the other cluster binds': { account: 'dev-team', steps: [['one', 'two'], ['two']] },
  'as an account without rights there': { account: 'nobody', steps: [['one']] },
}

describe('a kubeConfig beside the real kustomize-controller, on two API servers', () => {
  let world: FluxWorld
  let edge: TestCluster
  let worker: TestWorker
  let memory: ClusterMemory
  let ca: string

  const namespaceOf = (who: string, index: number) => `${who}-${index}`
  const statusPath = (namespace: string) => `${kustomizations(namespace)}/app`

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    edge = await startCluster({ workerRbac: false })
    ca = join(dirname(edge.workerKubeconfig), 'certs', 'apiserver.crt')
    const authority = { 'certificate-authority-data': readFileSync(ca).toString('base64') }
    const { token } = kubeconfigAt(edge.adminKubeconfig).users[0]!.user
    for (const who of ['flux', 'ours']) {
      for (const index of Object.keys(CASES).keys()) {
        const namespace = namespaceOf(who, index)
        await createTenant(world.cluster, namespace, 'dev-team')
        await createTenant(edge, namespace, 'dev-team')
        await create(world.cluster, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'nobody' } })
        await create(world.cluster, `/api/v1/namespaces/${namespace}/secrets`, {
          metadata: { name: NAMES.secretRef },
          stringData: { [NAMES.key]: kubeconfig(edge.url, { token }, authority) },
        })
        await mayRead(namespace)
      }
    }
    const probe = await openWorker(world)
    const servers = Object.keys(CASES).map((_, index) => ({ server: edge.url, cluster: clusterOf(index), ca }))
    memory = new ClusterMemory({ remotes: new RemoteClients(probe.client, servers), patienceMs: 10_000 })
    worker = await openWorker(world, memory)
  }, 240_000)
  afterAll(async () => {
    memory?.close()
    worker?.client.close()
    await edge?.stop()
    await world?.close()
  })

  /** The worker reads the Secret of who names no account, and every account its own. */
  async function mayRead(namespace: string): Promise<void> {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    await create(world.cluster, `${rbac}/roles`, {
      metadata: { name: 'kubeconfig' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [NAMES.secretRef], verbs: ['get'] }],
    })
    await create(world.cluster, `${rbac}/rolebindings`, {
      metadata: { name: 'kubeconfig' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kubeconfig' },
      subjects: [
        { kind: 'User', name: 'bailiwick', apiGroup: 'rbac.authorization.k8s.io' },
        { kind: 'ServiceAccount', name: 'nobody', namespace },
      ],
    })
  }

  const clusterOf = (index: number) => `staging -> kubeconfig ours-${index}/edge/kubeconfig`

  async function left(namespace: string): Promise<Json> {
    const { body } = await world.cluster.request('GET', statusPath(namespace))
    const ready = conditionOf(body, 'Ready')
    const listed = await edge.request('GET', `/api/v1/namespaces/${namespace}/configmaps`)
    const objects = itemsAt(listed.body, 'items')
      .filter(one => stringAt(one, 'metadata', 'name') !== 'kube-root-ca.crt')
      .map(one => {
        const { name, labels = {} } = mapAt(one, 'metadata')
        const managers = itemsAt(one, 'metadata', 'managedFields').map(entry => stringAt(entry, 'manager'))
        return { name: name!, labels, managers, data: mapAt(one, 'data') }
      })
    const here = await world.cluster.request('GET', `/api/v1/namespaces/${namespace}/configmaps`)
    const isOk = stringAt(ready, 'status') === 'True'
    const status = {
      ready: `${stringAt(ready, 'status')} ${stringAt(ready, 'reason')} ${isOk ? stringAt(ready, 'message') : ''}`,
      applied: stringAt(body, 'status', 'lastAppliedRevision'),
      attempted: stringAt(body, 'status', 'lastAttemptedRevision'),
      inventory: itemsAt(body, 'status', 'inventory', 'entries')
        .map(one => stringAt(one, 'id'))
        .sort(),
    }
    const atHome = itemsAt(here.body, 'items').map(one => stringAt(one, 'metadata', 'name'))
    const text = JSON.stringify({ status, objects, atHome: atHome.filter(name => name !== 'kube-root-ca.crt') })
    return JSON.parse(text.replaceAll(namespace, 'NS'))
  }

  function declared(namespace: string, account: string): Json {
    const spec = {
      ...{ interval: '1h', retryInterval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'app' } },
      ...{ kubeConfig: { secretRef: { name: NAMES.secretRef, key: NAMES.key } } },
      ...(account === '' ? {} : { serviceAccountName: account }),
    }
    return { ...KUSTOMIZATION, metadata: { name: 'app', namespace }, spec }
  }

  const objectsOf = (namespace: string, names: readonly string[]) => names.map(name => configMap(namespace, name))

  async function fluxDoes(index: number, account: string, step: number, names: readonly string[]): Promise<void> {
    const namespace = namespaceOf('flux', index)
    await put(world.cluster, kustomizations(namespace), declared(namespace, account))
    const files = Object.fromEntries(objectsOf(namespace, names).map((one, at) => [`${at}.yaml`, JSON.stringify(one)]))
    const revision = `main@sha1:${commitOf(step)}`
    await world.artifacts.put({ namespace, name: 'app' }, revision, files)
    await until(world.cluster, statusPath(namespace), one => {
      const isDone = ['True', 'False'].includes(stringAt(one && conditionOf(one, 'Ready'), 'status'))
      return isDone && stringAt(one, 'status', 'lastAttemptedRevision') === revision
    })
  }

  async function weDo(index: number, account: string, step: number, names: readonly string[]): Promise<void> {
    const namespace = namespaceOf('ours', index)
    await put(world.cluster, kustomizations(namespace), declared(namespace, account))
    const kubeConfig = { kind: 'Secret', name: NAMES.secretRef, key: NAMES.key } as const
    const user =
      account === '' ? `kubeconfig ${namespace}/edge/kubeconfig` : `system:serviceaccount:${namespace}:${account}`
    const node = nodeOf({ namespace, name: 'app' }, objectsOf(namespace, names), {
      ...{ commit: commitOf(step), cluster: clusterOf(index), hub: 'staging', tenant: null, user },
      ...{ impersonated: account !== '' },
      settings: { ...DEFAULT_SETTINGS, intervalMs: 3_600_000, retryIntervalMs: 3_600_000, kubeConfig },
    })
    await worker.run([node])
  }

  test
    .skipIf(missing !== undefined)
    .each(Object.entries(CASES).map(([name, one], index) => [name, one, index] as const))(
    '%s',
    async (_name, { account, steps }, index) => {
      const theirs: Json[] = []
      const ours: Json[] = []
      await world.startController()
      for (const [step, names] of steps.entries()) {
        await fluxDoes(index, account, step, names)
        theirs.push(await left(namespaceOf('flux', index)))
      }
      await world.stopController()
      for (const [step, names] of steps.entries()) {
        await weDo(index, account, step, names)
        ours.push(await left(namespaceOf('ours', index)))
      }
      expect(ours).toEqual(theirs)
      expect(JSON.stringify(theirs)).toContain(account === 'nobody' ? 'False' : 'True ReconciliationSucceeded')
    },
    60_000,
  )
})
