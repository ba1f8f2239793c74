import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { stringAt } from '../../src/cluster/json.ts'
import { pruneObjects } from '../../src/cluster/prune-objects.ts'
import { ownTargetReason } from '../../src/cluster/refused-targets.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyNode } from '../../workers/apply/apply-node.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  create,
  createPlatformAccount,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

const OWN = 'bailiwick-system'
const owner = { namespace: 'flux-system', name: 'infra' }
const object = (apiVersion: string, kind: string, namespace: string, name: string, more: object = {}): Json => ({
  apiVersion,
  kind,
  metadata: { ...(namespace ? { namespace } : {}), name },
  ...(more as { [key: string]: Json }),
})
const role = { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' } }

describe.skipIf(!haveAssets())('the worker itself is never an apply target', () => {
  let cluster: ClusterUnderTest
  let proxy: FaultProxy
  let client: ClusterClient
  let platform: string

  beforeAll(async () => {
    cluster = await startUnderTest()
    platform = await createPlatformAccount(cluster.server)
    proxy = await startFaultProxy(cluster.server)
    client = await connect(binding('staging', proxy.kubeconfig))
  })
  afterAll(async () => {
    client?.close()
    await proxy?.close()
    await cluster?.stop()
  })
  const written = () => proxy.seen.filter(({ user }) => user !== '')

  test.each<[string, Json]>([
    ['its Namespace', object('v1', 'Namespace', '', OWN)],
    ['its Namespace with a namespace of its own', object('v1', 'Namespace', 'apps', OWN)],
    ['a ConfigMap in it, as inventories are', object('v1', 'ConfigMap', OWN, 'bailiwick-inventory-x')],
    ['its account', object('v1', 'ServiceAccount', OWN, 'bailiwick')],
    ['a token of its account', object('v1', 'Secret', OWN, 'token')],
    ['a RoleBinding in it', object('rbac.authorization.k8s.io/v1', 'RoleBinding', OWN, 'x', role)],
    ['a Role in another version', object('rbac.authorization.k8s.io/v1beta1', 'Role', OWN, 'x')],
    ['its Deployment', object('apps/v1', 'Deployment', OWN, 'bailiwick')],
    ['its Lease', object('coordination.k8s.io/v1', 'Lease', OWN, 'bailiwick')],
    ['a custom resource in it', object('acme.example/v1', 'Widget', OWN, 'x')],
    ['an object of the cluster that names it', object('rbac.authorization.k8s.io/v1', 'ClusterRole', OWN, 'x')],
  ])('%s is refused and nothing is sent for it', async (_what, target) => {
    proxy.seen.length = 0
    const { objects, failed } = await applyObjects(client, {
      user: platform,
      owner,
      objects: [target],
      adopt: true,
    })
    expect(failed).toBe(1)
    expect(objects[0]).toMatchObject({ action: 'failed', code: 'cluster-forbidden' })
    expect(objects[0]!.message).toContain("bailiwick-system is the worker's own namespace. Allowed: ")
    expect(written()).toEqual([])
  })

  test.each([`system:serviceaccount:${OWN}:bailiwick`, `system:serviceaccount:${OWN}:other`, `gotk:${OWN}:reconciler`])(
    'nothing is applied or deleted as %s',
    async user => {
      proxy.seen.length = 0
      const { objects } = await applyObjects(client, { user, owner, objects: [configMap('flux-system', 'x')] })
      expect(objects[0]).toMatchObject({ action: 'failed', code: 'cluster-forbidden' })
      expect(objects[0]!.message).toContain("an account of the worker's own namespace applies nothing")
      const entries = [{ id: 'flux-system_x__ConfigMap', v: 'v1' }]
      expect((await pruneObjects(client, { user, owner, entries })).objects[0]).toMatchObject({ action: 'skipped' })
      expect(written()).toEqual([])
    },
  )

  test.each([
    ['an account of it', { user: `system:serviceaccount:${OWN}:bailiwick` }],
    ['a Kustomization in it', { namespace: OWN }],
  ])('%s: not even the keys of its decryption are read', async (_what, more) => {
    proxy.seen.length = 0
    const node = {
      key: 'staging/flux-system/infra',
      cluster: 'staging',
      ...owner,
      user: platform,
      objects: [],
      settings: DEFAULT_SETTINGS,
      decryption: { secret: 'keys', seals: [] },
      ...more,
    } as unknown as ApprovedNode
    const applying = applyNode(client, node, undefined, AbortSignal.timeout(30_000))
    await expect(applying).rejects.toMatchObject({ code: 'cluster-forbidden' })
    expect(written()).toEqual([])
  })

  test('what an inventory names in it is not deleted, and forgotten', async () => {
    const labels = {
      'kustomize.toolkit.fluxcd.io/name': 'infra',
      'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
    }
    const path = `/api/v1/namespaces/${OWN}/configmaps`
    await create(cluster.server, path, { metadata: { name: 'ours', labels } })
    proxy.seen.length = 0
    const entries = [
      { id: `_${OWN}__Namespace`, v: 'v1' },
      { id: `${OWN}_ours__ConfigMap`, v: 'v1' },
      { id: `${OWN}_bailiwick__ServiceAccount`, v: 'v1' },
    ]
    const { objects, remaining } = await pruneObjects(client, { user: platform, owner, entries })
    expect(objects.map(({ action }) => action)).toEqual(['skipped', 'skipped', 'skipped'])
    expect(objects[0]!.message).toContain("is the worker's own namespace")
    expect(remaining).toEqual([])
    expect(written()).toEqual([])
    expect(await get(cluster.server, `${path}/ours`)).toBeDefined()
  })

  test('what only looks like it is applied', async () => {
    const targets = [
      object('v1', 'Namespace', '', `${OWN}-2`),
      configMap('flux-system', OWN),
      object('v1', 'ServiceAccount', 'flux-system', 'bailiwick'),
      object('rbac.authorization.k8s.io/v1', 'ClusterRole', '', OWN, { rules: [] }),
    ]
    const { objects } = await applyObjects(client, { user: platform, owner, objects: targets })
    expect(objects.map(({ action, message }) => [action, message])).toEqual(targets.map(() => ['created', undefined]))
  })

  test('an account of the worker that lives elsewhere is protected with its tokens, and only that', async () => {
    await create(cluster.server, '/api/v1/namespaces', { metadata: { name: 'ops' } })
    await create(cluster.server, '/api/v1/namespaces/ops/serviceaccounts', { metadata: { name: 'deployer' } })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    const path = '/api/v1/namespaces/ops/serviceaccounts/deployer/token'
    const issued = await cluster.server.request('POST', path, request)
    const token = stringAt(issued.body, 'status', 'token')
    const kubeconfig = join(dirname(cluster.server.workerKubeconfig), 'elsewhere.kubeconfig')
    const text = JSON.stringify(JSON.parse(readFileSync(cluster.server.workerKubeconfig, 'utf8')))
    writeFileSync(kubeconfig, text.replace(/"token":"[^"]*"/, `"token":"${token}"`), { mode: 0o600 })
    const elsewhere = await connect(binding('staging', kubeconfig))
    const reason = (target: Json, user = platform) => {
      const id = {
        apiVersion: stringAt(target, 'apiVersion'),
        kind: stringAt(target, 'kind'),
        namespace: stringAt(target, 'metadata', 'namespace'),
        name: stringAt(target, 'metadata', 'name'),
      }
      return ownTargetReason(elsewhere, { user, id, object: target })
    }
    const secret = (account: string, type: string): Json => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type,
      metadata: {
        namespace: 'ops',
        name: 'x',
        annotations: { 'kubernetes.io/service-account.name': account },
      },
    })
    const type = 'kubernetes.io/service-account-token'
    expect(await reason(object('v1', 'ServiceAccount', 'ops', 'deployer'))).toContain("is the worker's own identity")
    expect(await reason(secret('deployer', type))).toContain("is the worker's own identity")
    expect(await reason(configMap('ops', 'x'), 'system:serviceaccount:ops:deployer')).toContain('applies nothing')
    expect(await reason(object('v1', 'ServiceAccount', 'ops', 'other'))).toBeUndefined()
    expect(await reason(object('v1', 'ServiceAccount', 'apps', 'deployer'))).toBeUndefined()
    expect(await reason(secret('other', type))).toBeUndefined()
    expect(await reason(secret('deployer', 'Opaque'))).toBeUndefined()
    expect(await reason(configMap('ops', 'deployer'))).toBeUndefined()
    elsewhere.close()
  })
})
