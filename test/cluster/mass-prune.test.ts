import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import { configMap, get, haveAssets } from './cluster-under-test.ts'
import { CONFIGMAPS, startTenant, type TenantUnderTest } from './tenant-under-test.ts'

const maps = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => configMap('apps', `${prefix}-${index}`))

describe.skipIf(!haveAssets())('deleting much at once', () => {
  let tenant: TenantUnderTest
  beforeAll(async () => {
    tenant = await startTenant()
  })
  afterAll(() => tenant?.stop())

  const node = (name: string, namespace: string, objects: readonly Json[], parent: string | null): ApprovedNode => {
    const texts = objects.map(object => JSON.stringify(object))
    return {
      key: `staging/${namespace}/${name}`,
      cluster: 'staging',
      namespace,
      name,
      parent,
      user: tenant.user,
      impersonated: true,
      tenant: namespace,
      source: { id: `GitRepository/${namespace}/x`, url: '', commit: 'c', opaque: null },
      dependsOn: [],
      suspend: false,
      prune: true,
      settings: DEFAULT_SETTINGS,
      digest: digestOfTexts(texts),
      applyDigest: digestOfTexts(texts),
      objects: texts,
      revisionSet: 'one',
    }
  }
  const run = async (apply: readonly ApprovedNode[], approved: ReadonlySet<string> = new Set()) => {
    const nodes = apply.map(one => ({ ...one, findings: [], failures: [], hides: [], refused: [] }))
    const whole: Approved = {
      nodes,
      evaluation: { nodes } as unknown as Approved['evaluation'],
      apply,
      held: [],
      fleetCommit: 'c',
      prunes: { limits: { share: 30, atLeast: 10 }, approvals: async () => approved },
    }
    return applyApproved(tenant.client, whole, AbortSignal.timeout(60_000))
  }
  const reasonOf = (said: Awaited<ReturnType<typeof run>>, key: string) =>
    said.find(one => one.key === key)?.reason ?? ''
  const digestIn = (reason: string) => /approve-prune ([0-9a-f]{32})$/.exec(reason)![1]!
  const isThere = async (name: string) => (await get(tenant.server, `${CONFIGMAPS}/${name}`)) !== undefined

  test('a node that loses most of its objects keeps them until exactly these are approved', async () => {
    const before = maps('many', 14)
    await run([node('many', 'apps', before, null)])
    const held = await run([node('many', 'apps', before.slice(0, 2), null)])
    expect(held).toMatchObject([{ outcome: 'held' }])
    const reason = reasonOf(held, 'staging/apps/many')
    expect(reason).toContain('it would delete 12 of 14 objects (12 ConfigMap): ConfigMap apps/many-10, ')
    expect(await isThere('many-13')).toBe(true)

    // the same again, with the approval of another set
    const other = await run([node('many', 'apps', before.slice(0, 3), null)], new Set([digestIn(reason)]))
    expect(other).toMatchObject([{ outcome: 'held' }])
    expect(await isThere('many-13')).toBe(true)

    const again = await run([node('many', 'apps', before.slice(0, 2), null)])
    const done = await run(
      [node('many', 'apps', before.slice(0, 2), null)],
      new Set([digestIn(reasonOf(again, 'staging/apps/many'))]),
    )
    expect(done).toMatchObject([{ outcome: 'applied' }])
    expect(await isThere('many-13')).toBe(false)
    expect(await isThere('many-1')).toBe(true)
  })

  test('a few objects are deleted at once', async () => {
    await run([node('few', 'apps', maps('few', 9), null)])
    expect(await run([node('few', 'apps', [], null)])).toContainEqual(
      expect.objectContaining({ key: 'staging/apps/few', outcome: 'applied' }),
    )
    expect(await isThere('few-0')).toBe(false)
  })

  test('a tenant that vanishes keeps its objects, and its parent the account, until it is approved', async () => {
    const parent = (objects: readonly Json[]) => node('root', 'platform', objects, null)
    const child = node('team', 'team', maps('team', 2), 'staging/platform/root')
    await run([parent(maps('account', 1)), child])
    const held = await run([parent([])])
    expect(reasonOf(held, 'staging/team/team')).toContain('All Kustomizations of staging/team are removed at once')
    expect(await isThere('team-0')).toBe(true)
    expect(await isThere('account-0')).toBe(true)
    await run([parent([])], new Set([digestIn(reasonOf(held, 'staging/team/team'))]))
    expect(await isThere('team-0')).toBe(false)
    expect(await isThere('account-0')).toBe(false)
  })

  test('a node that is gone waits for what is gone below it', async () => {
    const [root, middle] = ['staging/platform/root', 'staging/apps/middle']
    const all = [
      node('root', 'platform', [], null),
      node('middle', 'apps', maps('middle', 1), root),
      node('lower', 'apps', maps('lower', 1), middle),
      node('stays', 'apps', maps('stays-too', 1), root),
    ]
    const rest = [all[0]!, all[3]!]
    await run(all)
    tenant.proxy.rule = ({ method, path }) =>
      method === 'DELETE' && path.endsWith('/lower-0') ? { status: 403 } : undefined
    const said = await run(rest)
    tenant.proxy.rule = undefined
    expect(reasonOf(said, middle)).toBe('a Kustomization below it is not deleted yet')
    expect([await isThere('lower-0'), await isThere('middle-0')]).toEqual([true, true])
    await run(rest)
    expect([await isThere('lower-0'), await isThere('middle-0')]).toEqual([false, false])
  })

  test('what moves to another Kustomization is not deleted, and asks nobody', async () => {
    const objects = maps('moved', 14)
    const from = (some: readonly Json[]) => ({ ...node('from', 'apps', some, null), tenant: null })
    const to = (some: readonly Json[]) => ({ ...node('to', 'apps', some, null), tenant: null })
    await run([from(objects), to(maps('stays', 1))])
    const done = await run([from(objects.slice(0, 1)), to([...maps('stays', 1), ...objects.slice(1)])])
    expect(done).toMatchObject([{ outcome: 'applied' }, { outcome: 'applied' }])
    expect(await isThere('moved-13')).toBe(true)
    // and is deleted, after an approval, where that one loses it
    const held = await run([from(objects.slice(0, 1)), to(maps('stays', 1))])
    expect(reasonOf(held, 'staging/apps/to')).toContain('it would delete 13 of')
    expect(await isThere('moved-13')).toBe(true)
  })
})
