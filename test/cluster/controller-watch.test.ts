import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControllerWatch } from '../../src/cluster/active-controller.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { ClusterError } from '../../src/cluster/cluster-error.ts'
import { type ClusterUnderTest, create, haveAssets, startUnderTest } from './cluster-under-test.ts'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const deployment = (name: string, image: string) => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } }
  return { metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template } }
}

describe.skipIf(!haveAssets())('another controller on a real API server', () => {
  let cluster: ClusterUnderTest
  let asked: string[]
  const observed = (): ClusterClient => ({
    ...cluster.client,
    request(actor, method, path, options) {
      asked.push(`${path.split('/').at(-1)} ${options?.query?.fieldSelector ?? 'all'}`)
      return cluster.client.request(actor, method, path, options)
    },
  })
  const named = [
    'deployments metadata.name=kustomize-controller',
    'leases metadata.name=kustomize-controller-leader-election',
  ]

  beforeAll(async () => {
    cluster = await startUnderTest()
  })
  afterAll(() => cluster?.stop())

  test('two requests find it, however many Deployments there are; one that is called otherwise is found by the watch', async () => {
    asked = []
    const watch = new ControllerWatch(observed())
    await watch.refuse()
    expect(asked.slice(0, 2)).toEqual(['deployments all', named[1]])
    for (asked = []; asked[0] !== named[0]; await sleep(20)) {
      asked = []
      await watch.refuse()
    }
    expect(asked).toEqual(named)
    await create(cluster.server, DEPLOYMENTS, deployment('web', 'registry.local/web:1'))
    await expect(watch.refuse()).resolves.toBeUndefined()

    const renamed = deployment('applier', 'registry.local/mirror/kustomize-controller:v1.9.5')
    await create(cluster.server, DEPLOYMENTS, renamed)
    const refused = () => watch.refuse().then(() => '', String)
    while ((await refused()) === '') await sleep(10)
    expect(await refused()).toContain('Deployment default/applier has replicas')
    const contentType = 'application/merge-patch+json'
    await cluster.server.request('PATCH', `${DEPLOYMENTS}/applier`, { spec: { replicas: 0 } }, { contentType })
    while ((await refused()) !== '') await sleep(10)
    await create(cluster.server, DEPLOYMENTS, deployment('kustomize-controller', 'registry.local/x:1'))
    expect(await refused()).toContain('Deployment default/kustomize-controller has replicas')
    await cluster.server.request('DELETE', `${DEPLOYMENTS}/kustomize-controller`)
    await watch.close()
    await cluster.server.request('DELETE', `${DEPLOYMENTS}/applier`)
  })

  test('who may not watch reads all of them each time', async () => {
    const client = observed()
    const refusal = { status: 403, reason: 'Forbidden', text: 'no', causes: [] }
    const watch = new ControllerWatch({
      ...client,
      stream: async () => {
        throw new ClusterError('cluster-forbidden', 'no', refusal)
      },
    })
    await watch.refuse()
    await sleep(300)
    asked = []
    await watch.refuse()
    expect(asked).toEqual(['deployments all', named[1]])
    await watch.close()
  })
})
