import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readInventories } from '../../src/cluster/inventory.ts'
import { stringAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import type { EvaluatedNode, Finding } from '../../src/rules/model/finding.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import { approvedNode, approvedOf, keyOf } from './approved-node.ts'
import { configMap, createTenant, get, haveAssets } from './cluster-under-test.ts'
import { CONFIGMAPS, startTenant, type TenantUnderTest } from './tenant-under-test.ts'

const CLAIMS = '/api/v1/namespaces/apps/persistentvolumeclaims'
const SCALERS = '/apis/autoscaling/v2/namespaces/apps/horizontalpodautoscalers'

describe.skipIf(!haveAssets())('an object moves to another Kustomization of its cluster', () => {
  let tenant: TenantUnderTest
  let stranger: string
  let count = 0
  beforeAll(async () => {
    tenant = await startTenant()
    stranger = await createTenant(tenant.server, 'other', 'other')
    // by whatever right: which objects it may have, the rules decide
    await tenant.server.request('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/apps/rolebindings', {
      metadata: { name: 'stranger' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'other', namespace: 'other' }],
    })
  })
  afterAll(() => tenant?.stop())

  /** A fresh pair of Kustomizations and a ConfigMap. */
  const fresh = () => {
    const number = ++count
    const name = `moved-${number}`
    const thing = configMap('apps', name)
    const [from, to] = [`from-${number}`, `to-${number}`]
    const stays = (node: string) => configMap('apps', `${node}-stays`)
    return {
      name,
      thing,
      from: (objects: readonly Json[], more: Partial<ApprovedNode> = {}) =>
        approvedNode(tenant.user, from, [stays(from), ...objects], more),
      to: (objects: readonly Json[], more: Partial<ApprovedNode> = {}) =>
        approvedNode(tenant.user, to, [stays(to), ...objects], more),
      fromKey: keyOf(from),
      toKey: keyOf(to),
    }
  }
  interface More {
    /** Nodes that are evaluated and held, each with why. */
    readonly held?: readonly ApprovedNode[]
    readonly evaluated?: Partial<EvaluatedNode>
  }
  const run = async (apply: readonly ApprovedNode[], { held = [], evaluated = {} }: More = {}) => {
    const all = approvedOf([...apply, ...held])
    const isHeld = new Set(held.map(({ key }) => key))
    const nodes = all.nodes.map(node => (isHeld.has(node.key) ? { ...node, ...evaluated } : node))
    const approved = { ...all, nodes, apply, held: held.map(({ key }) => ({ node: key, reason: 'not yet' })) }
    const said = await applyApproved(tenant.client, approved, AbortSignal.timeout(60_000))
    return new Map(said.map(node => [node.key, node]))
  }
  const uidOf = async (path: string) => {
    const live = await get(tenant.server, path)
    return live === undefined ? undefined : stringAt(live, 'metadata', 'uid')
  }
  const ownerOf = async (path: string) => {
    const live = await get(tenant.server, path)
    return stringAt(live!, 'metadata', 'labels', 'kustomize.toolkit.fluxcd.io/name')
  }
  const inventoryOf = async (key: string) => (await readInventories(tenant.client)).find(({ node }) => node === key)
  const isIn = async (key: string, name: string) =>
    (await inventoryOf(key))?.entries.some(({ id }) => id.includes(`_${name}_`)) ?? false
  const messageOf = (said: Awaited<ReturnType<typeof run>>, key: string, name: string) =>
    said.get(key)!.objects.find(({ object }) => object.name === name)

  test('the new one takes it over: the same object, with its labels and in its inventory alone', async () => {
    const { from, to, thing, name, fromKey, toKey } = fresh()
    await run([from([thing]), to([])])
    const uid = await uidOf(`${CONFIGMAPS}/${name}`)
    const said = await run([from([]), to([thing])])
    expect(await uidOf(`${CONFIGMAPS}/${name}`)).toBe(uid)
    expect(messageOf(said, toKey, name)).toMatchObject({ action: 'configured' })
    expect(messageOf(said, toKey, name)?.message).toMatch(/^it is taken over from Kustomization apps\/from-/)
    expect([await isIn(fromKey, name), await isIn(toKey, name)]).toEqual([false, true])
    // and nothing is left to be done
    const again = await run([from([]), to([thing])])
    expect(again.get(fromKey)!.objects.every(({ action }) => action === 'unchanged')).toBe(true)
    await run([from([]), to([])])
    expect(await uidOf(`${CONFIGMAPS}/${name}`)).toBeUndefined()
  })

  test('a claim and an object of another version keep their data', async () => {
    const { from, to } = fresh()
    const claim: Json = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'apps' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const scaler = (version: string): Json => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'apps' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    })
    await run([from([claim, scaler('v1')]), to([])])
    const before = [await uidOf(`${CLAIMS}/data`), await uidOf(`${SCALERS}/web`)]
    await run([from([]), to([claim, scaler('v2')])])
    expect([await uidOf(`${CLAIMS}/data`), await uidOf(`${SCALERS}/web`)]).toEqual(before)
    expect(before.every(Boolean)).toBe(true)
  })

  test.each<[string, (to: ReturnType<typeof fresh>['to'], thing: Json) => [readonly ApprovedNode[], More?]]>([
    ['held', (to, thing) => [[], { held: [to([thing])] }]],
    ['held by a violation', (to, thing) => [[], { held: [to([thing])], evaluated: { findings: [{} as Finding] } }]],
    ['suspended', (to, thing) => [[to([thing], { suspend: true })]]],
    ['refused', (to, thing) => [[to([thing, configMap('apps', 'refused', { key: 'denied' })])]]],
    ['waiting', (to, thing) => [[to([thing], { dependsOn: [keyOf('absent')] })]]],
  ])('the new one is %s: the object stays, and is taken over later', async (_, how) => {
    const { from, to, thing, name, fromKey, toKey } = fresh()
    await run([from([thing]), to([])])
    const uid = await uidOf(`${CONFIGMAPS}/${name}`)
    const [others, more] = how(to, thing)
    for (let times = 0; times < 2; times++) {
      const said = await run([from([]), ...others], more)
      expect(said.get(fromKey)).toMatchObject({ outcome: 'applied' })
      expect(messageOf(said, fromKey, name)).toMatchObject({ action: 'skipped' })
      expect(messageOf(said, fromKey, name)?.message).toMatch(
        /^it moves to Kustomization apps\/to-\d+, which has not taken it over yet$/,
      )
      expect([await uidOf(`${CONFIGMAPS}/${name}`), await isIn(fromKey, name)]).toEqual([uid, true])
    }
    await run([from([]), to([thing])])
    expect([await uidOf(`${CONFIGMAPS}/${name}`), await isIn(fromKey, name)]).toEqual([uid, false])
    expect(await isIn(toKey, name)).toBe(true)
  })

  test('the new one no longer wants it: it is deleted', async () => {
    const { from, to, thing, name } = fresh()
    await run([from([thing]), to([])])
    await run([from([])], { held: [to([thing])] })
    await run([from([])], { held: [to([])] })
    expect(await uidOf(`${CONFIGMAPS}/${name}`)).toBeUndefined()
  })

  test('without prune on either side it is taken over, also later', async () => {
    const { from, to, thing, name, fromKey, toKey } = fresh()
    await run([from([thing]), to([])])
    const uid = await uidOf(`${CONFIGMAPS}/${name}`)
    const without = { prune: false }
    await run([from([], without)], { held: [to([thing], without)] })
    const said = await run([from([], without), to([thing], without)])
    expect(messageOf(said, toKey, name)).toMatchObject({ action: 'configured' })
    expect([await uidOf(`${CONFIGMAPS}/${name}`), await isIn(fromKey, name)]).toEqual([uid, false])
  })

  test.each([true, false])('the old one is gone, prune %s: its object is taken over, also later', async prune => {
    const { from, to, thing, name, fromKey, toKey } = fresh()
    const root = approvedNode(tenant.user, `root-${count}`, [])
    const below = { parent: root.key, prune }
    await run([root, from([thing], below), to([])])
    const uid = await uidOf(`${CONFIGMAPS}/${name}`)
    await run([root], { held: [to([thing])] })
    expect([await uidOf(`${CONFIGMAPS}/${name}`), await isIn(fromKey, name)]).toEqual([uid, true])
    expect(await isIn(fromKey, `from-${count}-stays`)).toBe(false)
    await run([root, to([thing])])
    expect([await uidOf(`${CONFIGMAPS}/${name}`), await isIn(toKey, name)]).toEqual([uid, true])
    expect(await inventoryOf(fromKey)).toBeUndefined()
  })

  describe('steals nothing', () => {
    const refused = { action: 'refused' }

    test('from one that still declares it, or is not approved without it', async () => {
      const { from, to, thing, name, toKey } = fresh()
      await run([from([thing]), to([])])
      const both = await run([from([thing]), to([thing])])
      expect(messageOf(both, toKey, name)).toMatchObject(refused)
      const unapproved = await run([to([thing])], { held: [from([])] })
      expect(messageOf(unapproved, toKey, name)).toMatchObject(refused)
      expect(await ownerOf(`${CONFIGMAPS}/${name}`)).toMatch(/^from-/)
    })

    test('from one that is gone only because its parent is not approved', async () => {
      const { from, to, thing, name, toKey } = fresh()
      const root = approvedNode(tenant.user, `root-${count}`, [])
      await run([root, from([thing], { parent: root.key }), to([])])
      const said = await run([to([thing])], { held: [root] })
      expect(messageOf(said, toKey, name)).toMatchObject(refused)
    })

    test('that no inventory of the old one has, or that is another object of this name', async () => {
      const { from, to, thing, name, toKey } = fresh()
      await run([from([]), to([])])
      const labels = (namespace: string) => ({
        'kustomize.toolkit.fluxcd.io/name': `from-${count}`,
        'kustomize.toolkit.fluxcd.io/namespace': namespace,
      })
      const create = (namespace: string) =>
        tenant.server.request('POST', CONFIGMAPS, { metadata: { name, labels: labels(namespace) } })
      await create('apps')
      expect(messageOf(await run([from([]), to([thing])]), toKey, name)).toMatchObject(refused)
      await tenant.server.request('DELETE', `${CONFIGMAPS}/${name}`)
      await run([from([thing]), to([])])
      await tenant.server.request('DELETE', `${CONFIGMAPS}/${name}`)
      await create('apps')
      expect(messageOf(await run([from([]), to([thing])]), toKey, name)).toMatchObject(refused)
      await tenant.server.request('DELETE', `${CONFIGMAPS}/${name}`)
      await create('elsewhere')
      expect(messageOf(await run([from([]), to([thing])]), toKey, name)).toMatchObject(refused)
    })
  })

  describe('to another tenant', () => {
    const theirs = (objects: readonly Json[]) => ({
      ...approvedNode(stranger, `theirs-${count}`, objects),
      ...{ key: `staging/other/theirs-${count}`, namespace: 'other', tenant: 'other' },
    })
    const about = (object: Json, more: Partial<Finding> = {}) => ({
      ...{ level: 'violation', state: 'new', rule: 'x', message: 'x', ...more },
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: stringAt(object, 'metadata', 'name') },
    })

    test('it is taken over where that one is approved, and neither names the other', async () => {
      const { from, thing, name, fromKey } = fresh()
      await run([from([thing])])
      const uid = await uidOf(`${CONFIGMAPS}/${name}`)
      const waiting = await run([from([]), { ...theirs([thing]), suspend: true }])
      expect(messageOf(waiting, fromKey, name)?.message).toBe(
        'it moves to a Kustomization of another namespace, which has not taken it over yet',
      )
      const said = await run([from([]), theirs([thing])])
      expect(messageOf(said, theirs([]).key, name)).toMatchObject({
        action: 'configured',
        message: 'it is taken over from a Kustomization of another namespace',
      })
      expect(await uidOf(`${CONFIGMAPS}/${name}`)).toBe(uid)
    })

    test.each<[string, boolean, (thing: Json) => Partial<EvaluatedNode>]>([
      ['a violation of that object', false, thing => ({ findings: [about(thing) as Finding] })],
      ['what could not be evaluated', false, () => ({ failures: [{ message: 'x' }] as never })],
      ['what was left out', false, () => ({ holes: ['x'] })],
      ['a violation of another object', true, () => ({ findings: [about(configMap('apps', 'z')) as Finding] })],
      ['a warning', true, thing => ({ findings: [about(thing, { level: 'warning' }) as Finding] })],
      ['something else', true, () => ({})],
    ])('that one is held for %s: it stays %s', async (_, stays, evaluated) => {
      const { from, thing, name } = fresh()
      await run([from([thing])])
      await run([from([])], { held: [theirs([thing])], evaluated: evaluated(thing) })
      expect((await uidOf(`${CONFIGMAPS}/${name}`)) !== undefined).toBe(stays)
      await run([from([])])
    })
  })

  test('to another cluster it does not move', async () => {
    const { from, to, thing, name } = fresh()
    await run([from([thing]), to([])])
    await run([from([])], { held: [to([thing], { cluster: 'production' })] })
    expect(await uidOf(`${CONFIGMAPS}/${name}`)).toBeUndefined()
  })

  test('many that move are not a mass prune, and those that do not move are', async () => {
    const { from, to, fromKey } = fresh()
    const many = Array.from({ length: 14 }, (_, at) => configMap('apps', `many-${count}-${at}`))
    await run([from(many), to([])])
    const moved = await run([from([])], { held: [to(many)] })
    expect(moved.get(fromKey)).toMatchObject({ outcome: 'applied' })
    expect(await uidOf(`${CONFIGMAPS}/many-${count}-13`)).toBeDefined()
    const lost = await run([from([]), to(many.slice(0, 2))])
    expect(lost.get(fromKey)).toMatchObject({ outcome: 'held' })
    expect(lost.get(fromKey)!.reason).toContain('it would delete 12 of ')
  })
})
