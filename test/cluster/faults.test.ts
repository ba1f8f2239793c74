import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from './fault-proxy.ts'

const TENANTS = ['blue', 'green', 'sick'] as const
const FAULTS: [string, Fault][] = [
  ['500', { status: 500 }],
  ['503', { status: 503 }],
  ['504', { status: 504 }],
  ['408', { status: 408 }],
  ['409', { status: 409 }],
  ['429 with Retry-After', { status: 429, retryAfter: 1 }],
  ['429 of priority and fairness', { status: 429, retryAfter: 1, text: true }],
  ['no answer', 'hang'],
  ['a closed connection', 'reset'],
  ['half an answer', 'half'],
]
const isDry = ({ query }: Seen) => query.get('dryRun') === 'All'
/** Which request of the sick tenant's object meets the fault. */
const VERBS: [string, (seen: Seen) => boolean][] = [
  ['GET', ({ method }) => method === 'GET'],
  ['the dry run', seen => seen.method === 'PATCH' && isDry(seen)],
  ['the apply', seen => seen.method === 'PATCH' && !isDry(seen)],
  ['DELETE', ({ method }) => method === 'DELETE'],
]

describe.skipIf(!haveAssets())('one object of one tenant meets a fault', () => {
  let cluster: ClusterUnderTest
  let proxy: FaultProxy
  let client: ClusterClient
  const users = new Map<string, string>()
  let round = 0

  beforeAll(async () => {
    cluster = await startUnderTest()
    for (const name of TENANTS) users.set(name, await createTenant(cluster.server, name, 'dev'))
    proxy = await startFaultProxy(cluster.server)
    client = await connect(binding('staging', proxy.kubeconfig), { timeoutMs: 1500 })
  })
  afterAll(async () => {
    client?.close()
    await proxy?.close()
    await cluster?.stop()
  })
  afterEach(() => {
    proxy.rule = undefined
  })

  const node = (tenant: string, names: readonly string[], value: string): ApprovedNode => {
    const texts = names.map(name => JSON.stringify(configMap(tenant, name, { key: value })))
    return {
      key: `staging/${tenant}/app`,
      cluster: 'staging',
      namespace: tenant,
      name: 'app',
      parent: null,
      user: users.get(tenant)!,
      impersonated: true,
      tenant,
      source: { id: 'GitRepository/x/x', url: '', commit: 'c', opaque: null },
      dependsOn: [],
      suspend: false,
      prune: true,
      settings: DEFAULT_SETTINGS,
      digest: digestOfTexts(texts),
      applyDigest: digestOfTexts(texts),
      objects: texts,
      revisionSet: value,
    }
  }
  const run = (names: readonly string[], value: string) => {
    const apply = TENANTS.map(tenant => node(tenant, names, value))
    const nodes = apply.map(one => ({ ...one, findings: [], failures: [], hides: [], refused: [] }))
    const evaluation = { nodes } as unknown as Approved['evaluation']
    const approved: Approved = { nodes, evaluation, apply, held: [], fleetCommit: 'c' }
    return applyApproved(client, approved, AbortSignal.timeout(60_000))
  }
  const namesIn = async (tenant: string) => {
    const list = await get(cluster.server, `/api/v1/namespaces/${tenant}/configmaps`)
    return Object.fromEntries(
      (jsonAt(list, 'items') as { metadata: { name: string }; data: object }[])
        .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
        .map(({ metadata, data }) => [metadata.name, data]),
    )
  }
  const writes = (tenant: string) =>
    proxy.seen.filter(
      one =>
        one.path.includes(`/namespaces/${tenant}/configmaps/`) &&
        ['PATCH', 'DELETE'].includes(one.method) &&
        !isDry(one),
    )

  const cases = VERBS.flatMap(([verb, meets]) => FAULTS.map(([what, fault]) => [what, verb, meets, fault] as const))
  test.each(cases)(
    '%s to %s: the others are applied, once, and after the fault all is as without it',
    async (_what, _verb, meets, fault) => {
      const value = `v${++round}`
      await run(['kept', 'leaving', 'changed'], 'before')
      proxy.seen.length = 0
      proxy.rule = seen =>
        seen.user === users.get('sick') && /\/(leaving|changed)$/.test(seen.path) && meets(seen) ? fault : undefined
      const said = await run(['kept', 'changed'], value)
      const others = said.filter(({ key }) => !key.includes('/sick/'))
      expect(others.map(({ outcome }) => outcome)).toEqual(['applied', 'applied'])
      const want = { kept: { key: value }, changed: { key: value } }
      expect([await namesIn('blue'), await namesIn('green')]).toEqual([want, want])
      expect([writes('blue').length, writes('green').length]).toEqual([3, 3])
      const sick = said.find(({ key }) => key.includes('/sick/'))!
      const isRefused = sick.objects.some(({ action }) => action === 'refused')
      expect(sick.outcome === 'failed' || isRefused).toBe(true)

      proxy.rule = undefined
      expect((await run(['kept', 'changed'], value)).map(({ outcome }) => outcome)).toEqual([
        'applied',
        'applied',
        'applied',
      ])
      expect(await namesIn('sick')).toEqual(want)
      expect([writes('blue').length, writes('green').length]).toEqual([3, 3])
    },
    60_000,
  )

  test('an API that is registered and away concerns only who uses it', async () => {
    await run(['kept'], 'aggregated-0')
    const version = 'v1.away.acme.example'
    const service = { name: 'away', namespace: 'blue', port: 443 }
    await cluster.server.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: version },
      spec: {
        group: 'away.acme.example',
        version: 'v1',
        service,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      },
    })
    const apply = TENANTS.map(tenant => {
      const one = node(tenant, ['kept'], 'aggregated')
      const away = { apiVersion: 'away.acme.example/v1', kind: 'Thing', metadata: { name: 'x', namespace: tenant } }
      return tenant === 'sick' ? { ...one, objects: [...one.objects, JSON.stringify(away)] } : one
    })
    const nodes = apply.map(one => ({ ...one, findings: [], failures: [], hides: [], refused: [] }))
    const evaluation = { nodes } as unknown as Approved['evaluation']
    const approved: Approved = { nodes, evaluation, apply, held: [], fleetCommit: 'c' }
    const said = await applyApproved(client, approved, AbortSignal.timeout(60_000))
    await cluster.server.request('DELETE', `/apis/apiregistration.k8s.io/v1/apiservices/${version}`)
    expect(said.map(({ outcome, objects }) => [outcome, objects.map(({ action }) => action)])).toEqual([
      ['applied', ['configured']],
      ['applied', ['configured']],
      expect.anything(),
    ])
    const { outcome, objects, reason = '' } = said[2]!
    const refused = objects.find(({ action }) => action === 'refused')
    expect(outcome === 'failed' || refused !== undefined).toBe(true)
    expect(`${reason}${refused?.message ?? ''}`).toContain('away.acme.example')
    expect(await namesIn('sick')).toEqual({ kept: { key: 'aggregated-0' } })
  })
})
