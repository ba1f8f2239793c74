import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refuseActiveController } from '../../src/cluster/active-controller.ts'
import { connect } from '../../src/cluster/api-client.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const owner = { namespace: 'apps', name: 'dev-team' }

describe.skipIf(!haveAssets())('a connection to a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
  })
  afterAll(() => cluster?.stop())

  test('the worker itself may write nothing of a tenant', async () => {
    const patch = cluster.client.request('worker', 'PATCH', '/api/v1/namespaces/apps/configmaps/a', {
      query: { fieldManager: 'bailiwick' },
      contentType: 'application/apply-patch+yaml',
      body: configMap('apps', 'a'),
    })
    await expect(patch).rejects.toMatchObject({
      code: 'cluster-forbidden',
      message:
        'configmaps "a" is forbidden: User "bailiwick" cannot patch resource "configmaps" in API group "" in the namespace "apps"',
    })
  })

  test.each(['secrets', 'pods', 'nodes'])('the worker may not read %s of the cluster', async resource => {
    const read = cluster.client.request('worker', 'GET', `/api/v1/${resource}`)
    await expect(read).rejects.toMatchObject({ code: 'cluster-forbidden' })
  })

  test('the account is who the API server sees, with its groups', async () => {
    const review = await cluster.client.request({ user }, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    expect(review.body).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:apps:dev-team',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:apps', 'system:authenticated'],
        },
      },
    })
  })

  test('a user that the worker may not impersonate is refused by the API server', async () => {
    const review = cluster.client.request({ user: 'gotk:apps:reconciler' }, 'GET', '/api/v1/namespaces/apps/configmaps')
    await expect(review).rejects.toMatchObject({
      code: 'cluster-forbidden',
      message: expect.stringContaining('cannot impersonate resource "users"'),
    })
  })

  test('where kustomize-controller is active the cluster is refused', async () => {
    await expect(refuseActiveController(cluster.client)).resolves.toBeUndefined()
    await create(cluster.server, '/api/v1/namespaces', { metadata: { name: 'flux-system' } })
    const deployments = '/apis/apps/v1/namespaces/flux-system/deployments'
    await create(cluster.server, deployments, controller(1))
    await expect(refuseActiveController(cluster.client)).rejects.toMatchObject({
      code: 'cluster-controller-active',
      message: expect.stringContaining('Deployment flux-system/renamed has replicas'),
      fix: expect.stringContaining('Scale that Deployment to 0'),
    })
    await cluster.server.request('PUT', `${deployments}/renamed`, controller(0))
    await expect(refuseActiveController(cluster.client)).resolves.toBeUndefined()

    await create(cluster.server, '/apis/coordination.k8s.io/v1/namespaces/flux-system/leases', {
      metadata: { name: 'kustomize-controller-leader-election' },
      spec: { holderIdentity: 'pod_1', leaseDurationSeconds: 35, renewTime: '2026-01-01T12:00:00.000000Z' },
    })
    const renewed = Date.parse('2026-01-01T12:00:00Z')
    await expect(refuseActiveController(cluster.client, { now: renewed + 30_000 })).rejects.toThrow(
      'was renewed at 2026-01-01',
    )
    await expect(refuseActiveController(cluster.client, { now: renewed + 90_000 })).resolves.toBeUndefined()
  })

  test('an API server that goes away during an apply: unavailable, and the next run completes', async () => {
    const objects = Array.from({ length: 400 }, (_, index) => configMap('apps', `many-${index}`))
    const applying = applyObjects(cluster.client, { user, owner, objects })
    const failed = expect(applying).rejects.toMatchObject({ code: 'cluster-unavailable' })
    await untilThere(cluster, 'many-0')
    await cluster.server.pause()
    await failed
    await expect(applyObjects(cluster.client, { user, owner, objects })).rejects.toMatchObject({
      code: 'cluster-unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    })

    await cluster.server.resume()
    const result = await applyObjects(cluster.client, { user, owner, objects })
    expect(result.failed).toBe(0)
    const actions = new Set(result.objects.map(({ action }) => action))
    expect([...actions].sort()).toEqual(['created', 'unchanged'])
    const again = await applyObjects(cluster.client, { user, owner, objects })
    expect(again.objects.every(({ action }) => action === 'unchanged')).toBe(true)
  })

  test('an apply that is told to stop stops', async () => {
    const objects = Array.from({ length: 400 }, (_, index) => configMap('apps', `stopped-${index}`))
    const stop = new AbortController()
    const applying = applyObjects(cluster.client, { user, owner, objects, signal: stop.signal })
    const stopped = expect(applying).rejects.toMatchObject({
      code: 'cluster-unavailable',
      message: expect.stringContaining('stopped'),
    })
    await untilThere(cluster, 'stopped-0')
    stop.abort()
    await stopped
    expect(await get(cluster.server, '/api/v1/namespaces/apps/configmaps/stopped-399')).toBeUndefined()
  })

  test('a certificate of another authority and a wrong token are an outage, not a refusal of the tenant', async () => {
    const write = (name: string, change: (text: string) => string) => {
      const path = join(dirname(cluster.server.workerKubeconfig), name)
      const text = JSON.stringify(kubeconfig(cluster))
      expect(change(text)).not.toBe(text)
      writeFileSync(path, change(text), { mode: 0o600 })
      return path
    }
    const untrusted = await connect(
      binding(
        'x',
        write('untrusted', text => text.replace(/,"certificate-authority-data":"[^"]*"/, '')),
      ),
    )
    await expect(untrusted.request('worker', 'GET', '/api')).rejects.toMatchObject({
      code: 'cluster-unavailable',
      message: expect.stringMatching(/self.signed certificate/),
    })
    const wrongToken = await connect(
      binding(
        'x',
        write('token', text => text.replace(/"token":"[^"]*"/, '"token":"no"')),
      ),
    )
    await expect(wrongToken.request('worker', 'GET', '/api')).rejects.toMatchObject({
      code: 'cluster-unavailable',
      message: expect.stringContaining("does not accept the worker's credentials"),
    })
    const cases: [string, (text: string) => string][] = [
      ['not https', text => text.replace('https://', 'http://')],
      [
        'insecure-skip-tls-verify',
        text => text.replace(/"certificate-authority-data":"[^"]*"/, '"insecure-skip-tls-verify":true'),
      ],
      ['has `as`', text => text.replace('"token"', '"as":"admin","token"')],
      ['proxy-url', text => text.replace('"server"', '"proxy-url":"http://127.0.0.1:1","server"')],
      ['username and password', text => text.replace('"token"', '"username":"a","password":"b","token"')],
      ['names no known cluster', text => text.replace('"current-context":"test"', '"current-context":"gone"')],
    ]
    for (const [message, change] of cases) {
      const result = connect(binding('x', write('bad', change)))
      await expect(result).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) })
    }
  })
})

function controller(replicas: number) {
  const labels = { app: 'kustomize-controller' }
  const container = { name: 'manager', image: 'mirror.example/fluxcd/kustomize-controller:v1.9.5@sha256:0' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'renamed', namespace: 'flux-system' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
}

function kubeconfig(cluster: ClusterUnderTest): unknown {
  return JSON.parse(readFileSync(cluster.server.workerKubeconfig, 'utf8'))
}

async function untilThere(cluster: ClusterUnderTest, name: string): Promise<void> {
  while (!(await get(cluster.server, `/api/v1/namespaces/apps/configmaps/${name}`))) {
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
