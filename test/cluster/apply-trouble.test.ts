import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import type { ApplyRequest } from '../../src/cluster/prepare-object.ts'
import { pruneObjects } from '../../src/cluster/prune-objects.ts'
import type { Json } from '../../src/kube/node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createPlatformAccount,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const owner = { namespace: 'apps', name: 'dev-team' }
const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const RBAC = 'rbac.authorization.k8s.io'

describe.skipIf(!haveAssets())('an apply that meets trouble', () => {
  let cluster: ClusterUnderTest
  let user: string
  let platform: string
  const apply = async (objects: Json[], more: Partial<ApplyRequest> = {}) => {
    const { objects: results } = await applyObjects(cluster.client, { user, owner, objects, ...more })
    return results.map(({ id, action, message = '' }) => ({ name: id.name, action, message }))
  }

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    platform = await createPlatformAccount(cluster.server)
  })
  afterAll(() => cluster?.stop())

  test('where a definition is refused, nothing after it is applied', async () => {
    const definition: Json = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wrong.acme.example' },
      spec: { group: 'acme.example', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [] },
    }
    const thing: Json = { apiVersion: 'acme.example/v1', kind: 'Thing', metadata: { name: 'thing', namespace: 'apps' } }
    const results = await apply([thing, configMap('apps', 'rest'), definition], { user: platform })
    expect(results.map(({ name, action }) => [name, action])).toEqual([
      ['wrong.acme.example', 'failed'],
      ['rest', 'withheld'],
      ['thing', 'withheld'],
    ])
    expect(results[0]!.message).toContain('metadata.name: Invalid value')
  })

  test('a refusal names the fields that the API server names, those of a Secret too', async () => {
    const web: Json = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'apps' },
      spec: {
        replicas: -1,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'Not Valid', image: 'a' }] } },
      },
    }
    const secret: Json = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace: 'apps' },
      data: { 'not a key': 'aHVudGVyMg==' },
    }
    const { objects } = await applyObjects(cluster.client, { user, owner, objects: [web, secret] })
    expect(objects.map(({ id, fields }) => [id.name, fields])).toEqual([
      ['token', ['data[not a key]']],
      ['web', ['spec.replicas', 'spec.template.metadata.labels', 'spec.template.spec.containers[0].name']],
    ])
  })

  test('a namespace that is being deleted fails at once, and nothing after it is applied', async () => {
    const namespace: Json = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'leaving' } }
    await apply([namespace], { user: platform })
    await cluster.server.request('DELETE', '/api/v1/namespaces/leaving') // for ever: nothing finalises it here
    const results = await apply([namespace, configMap('leaving', 'x'), configMap('apps', 'stays')], {
      user: platform,
    })
    expect(results.map(({ name, action }) => [name, action])).toEqual([
      ['leaving', 'failed'],
      ['stays', 'withheld'],
      ['x', 'withheld'],
    ])
    expect(results[0]!.message).toContain('Namespace leaving is being deleted (phase Terminating)')
    const [content] = await apply([configMap('leaving', 'x')], { user: platform })
    expect(content!.message).toContain('being terminated')
  })

  test('an admission webhook that is down fails its object, and nothing beside it is applied', async () => {
    const hit: Json = {
      ...(configMap('apps', 'hit') as object),
      metadata: { name: 'hit', namespace: 'apps', labels: { hit: 'me' } },
    }
    await cluster.server.request('POST', WEBHOOKS, webhookThatIsDown)
    // the API server calls a new webhook only after it has read its configurations again
    await expect
      .poll(async () => (await cluster.server.request('POST', `${CONFIGMAPS}?dryRun=All`, hit)).status, {
        timeout: 60_000,
      })
      .toBe(500)
    const results = await apply([hit, configMap('apps', 'missed')])
    expect(results.map(({ name, action }) => [name, action])).toEqual([
      ['hit', 'failed'],
      ['missed', 'withheld'],
    ])
    expect(results[0]!.message).toContain('ConfigMap/apps/hit dry-run failed (InternalError): ')
    expect(results[0]!.message).toContain('failed calling webhook "down.acme.example"')
  })

  test('rights that the account does not have itself cannot be given away', async () => {
    const role: Json = {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'all' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }
    const [result] = await apply([role])
    expect(result).toMatchObject({ action: 'failed', message: expect.stringContaining('is forbidden') })
  })

  test('an object that is exchanged between reading and writing is left alone', async () => {
    await apply([configMap('apps', 'exchanged')])
    const exchange = async () => {
      await cluster.server.request('DELETE', `${CONFIGMAPS}/exchanged`)
      await create(cluster.server, CONFIGMAPS, { metadata: { name: 'exchanged' }, data: { key: 'theirs' } })
    }
    const { objects } = await applyObjects(before('PATCH', exchange), {
      user,
      owner,
      objects: [configMap('apps', 'exchanged', { key: 'ours' })],
    })
    expect(objects[0]).toMatchObject({ action: 'failed' })
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/exchanged`), 'data')).toEqual({ key: 'theirs' })
  })

  test('an object that is changed between reading and deleting is not deleted, and tried again', async () => {
    const { objects } = await applyObjects(cluster.client, { user, owner, objects: [configMap('apps', 'changed')] })
    const entry = objects[0]!.entry!
    const change = async () => {
      const labels = { 'kustomize.toolkit.fluxcd.io/name': 'another' }
      await cluster.server.request(
        'PATCH',
        `${CONFIGMAPS}/changed`,
        { metadata: { labels } },
        {
          contentType: 'application/merge-patch+json',
        },
      )
    }
    const pruned = await pruneObjects(before('DELETE', change), { user, owner, entries: [entry] })
    expect(pruned.remaining).toEqual([entry])
    expect(await get(cluster.server, `${CONFIGMAPS}/changed`)).toBeDefined()
    const again = await pruneObjects(cluster.client, { user, owner, entries: [entry] })
    expect(again.objects[0]).toMatchObject({ action: 'skipped' })
  })

  /** The client, but something happens just before its first request of that method. */
  function before(method: string, happens: () => Promise<void>): ClusterClient {
    let happened = false
    return {
      ...cluster.client,
      async request(actor, sent, path, options) {
        if (sent === method && !happened) {
          happened = true
          await happens()
        }
        return cluster.client.request(actor, sent, path, options)
      },
    }
  }
})

const webhookThatIsDown: Json = {
  metadata: { name: 'down' },
  webhooks: [
    {
      name: 'down.acme.example',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: { hit: 'me' } },
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 1,
    },
  ],
}
