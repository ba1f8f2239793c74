import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import { type HealthNode, waitHealthy } from '../../src/cluster/health.ts'
import { idOf } from '../../src/cluster/json.ts'
import { type ApplySettings, DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/apps/deployments'

function deployment(name: string): Json {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'apps' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'registry.example/c:1' }] } },
    },
  }
}

/** What its controller would write of a Deployment of one replica. */
const READY = {
  ...{ observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
  conditions: [
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    { type: 'Available', status: 'True' },
  ],
}

const LATE = {
  observedGeneration: 1,
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
}

describe.skipIf(!haveAssets())('waitHealthy on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    await create(cluster.server, '/api/v1/namespaces', { metadata: { name: 'other' } })
  })
  afterAll(() => cluster?.stop())

  const setStatus = async (name: string, status: Json) => {
    const path = `${DEPLOYMENTS}/${name}/status`
    const type = { contentType: 'application/merge-patch+json' }
    const { status: code, body } = await cluster.server.request('PATCH', path, { status }, type)
    if (code !== 200) throw new Error(JSON.stringify(body))
  }

  /** Counts requests, and time passes with each pause only; `between` happens in a pause. */
  function watch(
    settings: Partial<ApplySettings>,
    objects: readonly Json[],
    between: (pause: number) => Promise<unknown> = async () => {},
    more: Partial<HealthNode> = {},
  ) {
    const paths: string[] = []
    const client: typeof cluster.client = {
      ...cluster.client,
      request(actor, method, path, options) {
        if (path !== '/api' && path !== '/apis') paths.push(path)
        return cluster.client.request(actor, method, path, options)
      },
    }
    let now = Date.parse('2026-01-01T00:00:00Z')
    let pauses = 0
    const clock = {
      now: () => now,
      async sleep(ms: number) {
        now += ms
        await between(++pauses)
      },
    }
    const node: HealthNode = {
      namespace: 'apps',
      name: 'web',
      user,
      settings: { ...DEFAULT_SETTINGS, timeoutMs: 30_000, ...settings },
      objects: objects.map(object => JSON.stringify(object)),
      ...more,
    }
    const done = waitHealthy(client, node, objects.map(idOf), new AbortController().signal, clock)
    return { done, paths, pauses: () => pauses }
  }

  const apply = async (...objects: Json[]) => {
    const result = await applyObjects(cluster.client, { user, owner: { namespace: 'apps', name: 'web' }, objects })
    expect(result.failed).toBe(0)
    return objects
  }

  test('without wait and healthChecks nothing is asked', async () => {
    const { done, paths } = watch({}, [deployment('never')])
    expect(await done).toEqual({ state: 'healthy', checked: 0 })
    expect(paths).toEqual([])
  })

  test('what needs no controller is healthy at once, by one list for each kind', async () => {
    const maps = await apply(...['a', 'b', 'c', 'd', 'e'].map(name => configMap('apps', name)))
    const { done, paths, pauses } = watch({ wait: true }, maps)
    expect(await done).toEqual({ state: 'healthy', checked: 5 })
    expect([paths, pauses()]).toEqual([['/api/v1/namespaces/apps/configmaps'], 0])
  })

  test('waits for what is in progress, and asks for that only until it is there', async () => {
    const objects = await apply(configMap('apps', 'f'), deployment('slow'))
    const { done, paths, pauses } = watch({ wait: true }, objects, async pause => {
      if (pause === 3) await setStatus('slow', READY)
    })
    expect(await done).toEqual({ state: 'healthy', checked: 2 })
    expect(pauses()).toBe(3)
    expect(paths.filter(path => path.endsWith('/f'))).toHaveLength(2)
    expect(paths.filter(path => path.endsWith('/slow'))).toHaveLength(5)
  })

  test('gives up at the timeout, and says what of which object is missing', async () => {
    const objects = await apply(deployment('stuck'))
    await setStatus('stuck', { ...READY, readyReplicas: 0, availableReplicas: 0 })
    const { done } = watch({ wait: true }, objects)
    expect(await done).toEqual({
      state: 'timeout',
      reason: "timeout waiting for: [Deployment/apps/stuck status: 'InProgress': Available: 0/1]",
      objects: [
        {
          object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'stuck' },
          status: 'InProgress',
          reason: 'LessAvailable',
          message: 'Available: 0/1',
        },
      ],
    })
  })

  test('fails as soon as one has failed, whatever the others do', async () => {
    const objects = await apply(deployment('stuck'), deployment('late'))
    await setStatus('late', LATE)
    const { done, pauses } = watch({ wait: true }, objects)
    expect(await done).toMatchObject({
      state: 'failed',
      reason:
        "failed early due to stalled resources: [Deployment/apps/late status: 'Failed': Progress deadline exceeded]",
    })
    expect(pauses()).toBe(0)
  })

  test('healthChecks count without wait, also for what others apply and what is not there yet', async () => {
    const check = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'elsewhere' }
    const { done } = watch({ healthChecks: [check] }, [deployment('never')], async pause => {
      if (pause === 1) await create(cluster.server, DEPLOYMENTS, deployment('elsewhere'))
      if (pause === 2) await setStatus('elsewhere', READY)
    })
    expect(await done).toEqual({ state: 'healthy', checked: 1 })
    const { done: missing } = watch({ healthChecks: [{ ...check, name: 'gone' }] }, [])
    expect(await missing).toMatchObject({
      reason: "timeout waiting for: [Deployment/apps/gone status: 'NotFound': Resource not found]",
    })
  })

  test('with wait, healthChecks do not count', async () => {
    const objects = await apply(configMap('apps', 'a'))
    const check = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'apps', name: 'gone' }
    expect(await watch({ wait: true, healthChecks: [check] }, objects).done).toEqual({ state: 'healthy', checked: 1 })
  })

  test('reads as the account: what it may not see is not healthy', async () => {
    const check = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'other', name: 'secret' }
    const { done } = watch({ healthChecks: [check] }, [])
    const told = 'configmaps "secret" is forbidden: User "system:serviceaccount:apps:dev-team" cannot get resource'
    expect(await done).toMatchObject({ state: 'timeout', objects: [{ status: 'Unknown' }] })
    expect(((await done) as { reason: string }).reason).toContain(
      `timeout waiting for: [ConfigMap/other/secret status: 'Unknown': ${told}`,
    )
  })

  test('an account that may not list is asked one by one', async () => {
    await create(cluster.server, '/api/v1/namespaces/apps/serviceaccounts', { metadata: { name: 'reader' } })
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
    await create(cluster.server, '/apis/rbac.authorization.k8s.io/v1/namespaces/apps/roles', {
      metadata: { name: 'reader' },
      rules,
    })
    await create(cluster.server, '/apis/rbac.authorization.k8s.io/v1/namespaces/apps/rolebindings', {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'apps' }],
    })
    const maps = await apply(...['a', 'b', 'c'].map(name => configMap('apps', name)))
    const { done, paths } = watch({ wait: true }, maps, undefined, { user: 'system:serviceaccount:apps:reader' })
    expect(await done).toEqual({ state: 'healthy', checked: 3 })
    expect(paths).toHaveLength(4)
  })

  test('never waits for itself', async () => {
    const apiVersion = 'kustomize.toolkit.fluxcd.io/v1'
    const self = { apiVersion, kind: 'Kustomization', namespace: 'apps', name: 'web' }
    expect(await watch({ healthChecks: [self] }, []).done).toEqual({ state: 'healthy', checked: 0 })
    // another one of that name is waited for
    const { done } = watch({ healthChecks: [{ ...self, namespace: 'other' }] }, [])
    expect(await done).toMatchObject({ state: 'timeout' })
  })

  test('a Job with a TTL that is gone has finished, one without is missing', async () => {
    const job = (spec: Json): Json => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once', namespace: 'apps' },
      spec,
    })
    expect(await watch({ wait: true }, [job({ ttlSecondsAfterFinished: 0 })]).done).toMatchObject({ state: 'healthy' })
    expect(await watch({ wait: true }, [job({})]).done).toMatchObject({ state: 'timeout' })
    const commented = { ...(job({}) as object), data: { note: '"ttlSecondsAfterFinished"' } } as Json
    expect(await watch({ wait: true }, [commented]).done).toMatchObject({ state: 'timeout' })
  })

  test('fails with the pods of a StatefulSet that crash again and again', async () => {
    const selector = { matchLabels: { app: 'db' } }
    const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'x' }] } }
    const [set] = await apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'apps' },
      spec: { selector, serviceName: 'db', template },
    })
    const { done: waiting } = watch({ wait: true }, [set!])
    expect(await waiting).toMatchObject({ state: 'timeout' })
    await create(cluster.server, '/api/v1/namespaces/apps/pods', {
      metadata: { name: 'db-0', labels: { app: 'db' } },
      spec: template.spec,
    })
    const status = { phase: 'Running', containerStatuses: [crashing('c')] }
    const type = { contentType: 'application/merge-patch+json' }
    await cluster.server.request('PATCH', '/api/v1/namespaces/apps/pods/db-0/status', { status }, type)
    expect(await watch({ wait: true }, [set!]).done).toMatchObject({
      state: 'failed',
      reason: "failed early due to stalled resources: [StatefulSet/apps/db status: 'Failed': 1 pods have failed]",
    })
  })

  test('ends with its signal', async () => {
    const controller = new AbortController()
    const [stuck] = await apply(deployment('stuck'))
    const node = {
      ...{ namespace: 'apps', name: 'web', user, objects: [] },
      settings: { ...DEFAULT_SETTINGS, wait: true },
    }
    const waiting = waitHealthy(cluster.client, node, [idOf(stuck!)], controller.signal)
    setTimeout(() => controller.abort(new Error('a new revision')), 100)
    await expect(waiting).rejects.toThrow('a new revision')
  })
})

const crashing = (name: string): Json => ({
  ...{ name, image: 'x', imageID: '', ready: false, restartCount: 3 },
  state: { waiting: { reason: 'CrashLoopBackOff' } },
})
