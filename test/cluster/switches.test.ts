import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import { configMap, get, haveAssets } from './cluster-under-test.ts'
import { CONFIGMAPS, startTenant, type TenantUnderTest } from './tenant-under-test.ts'

describe.skipIf(!haveAssets())("Flux's switches on objects", () => {
  let tenant: TenantUnderTest
  const apply: TenantUnderTest['apply'] = (objects, more) => tenant.apply(objects, more)

  beforeAll(async () => {
    tenant = await startTenant()
  })
  afterAll(() => tenant?.stop())

  describe('ssa: Merge', () => {
    const merged = (data: { [key: string]: string }, where: 'labels' | 'annotations' = 'annotations'): Json => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `merged-${where}`, namespace: 'apps', [where]: { 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' } },
      data,
    })
    const edit = (name: string, data: Json) =>
      tenant.server.request(
        'PATCH',
        `${CONFIGMAPS}/${name}?fieldManager=kubectl-edit`,
        { data },
        { contentType: 'application/merge-patch+json' },
      )
    const dataOf = async (name: string) => jsonAt(await get(tenant.server, `${CONFIGMAPS}/${name}`), 'data')

    test.each(['annotations', 'labels'] as const)('in %s: what a person added stays, ours is put back', async where => {
      const name = `merged-${where}`
      await apply([merged({ key: 'git', gone: 'git' }, where)])
      await edit(name, { key: 'person', extra: 'person' })
      expect((await apply([merged({ key: 'git' }, where)]))[0]).toMatchObject({ action: 'configured' })
      expect(await dataOf(name)).toEqual({ key: 'git', extra: 'person' })
      expect((await apply([merged({ key: 'git' }, where)]))[0]).toMatchObject({ action: 'unchanged' })
    })

    test('on the live object too; without it the fields of kubectl go away', async () => {
      await apply([configMap('apps', 'live-merge')])
      const annotations = { 'kustomize.toolkit.fluxcd.io/ssa': 'merge' }
      const options = { contentType: 'application/merge-patch+json' }
      const path = `${CONFIGMAPS}/live-merge?fieldManager=kubectl-annotate`
      await tenant.server.request('PATCH', path, { metadata: { annotations }, data: { extra: 'person' } }, options)
      expect((await apply([configMap('apps', 'live-merge')]))[0]).toMatchObject({ action: 'unchanged' })
      expect(await dataOf('live-merge')).toEqual({ key: 'value', extra: 'person' })
      // not allowed: as if it were not there
      await apply([configMap('apps', 'live-merge')], { switches: [] })
      expect(await dataOf('live-merge')).toEqual({ key: 'value' })
    })

    test('what kustomize-controller applied is taken over all the same', async () => {
      const left = merged({ key: 'flux', gone: 'flux' }) as { [key: string]: Json }
      const labels = { 'kustomize.toolkit.fluxcd.io/name': 'dev-team', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' }
      const metadata = { ...(left.metadata as object), name: 'from-flux', labels }
      const path = `${CONFIGMAPS}/from-flux?fieldManager=kustomize-controller&force=true`
      await tenant.server.request('PATCH', path, { ...left, metadata }, { contentType: 'application/apply-patch+yaml' })
      await edit('from-flux', { extra: 'person' })
      const wanted = { ...left, metadata: { ...(left.metadata as object), name: 'from-flux' }, data: { key: 'flux' } }
      await apply([wanted])
      expect(await dataOf('from-flux')).toEqual({ key: 'flux', extra: 'person' })
    })
  })

  test('what kubectl and old versions of Flux left in annotations and labels is removed', async () => {
    await apply([configMap('apps', 'left-over')])
    const metadata = {
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'kustomize.toolkit.fluxcd.io/checksum': 'x',
        'fluxcd.io/sync-checksum': 'x',
        mine: 'stays',
      },
      labels: { 'fluxcd.io/sync-gc-mark': 'x' },
    }
    const path = `${CONFIGMAPS}/left-over?fieldManager=old`
    await tenant.server.request('PATCH', path, { metadata }, { contentType: 'application/merge-patch+json' })
    await apply([configMap('apps', 'left-over')])
    const live = await get(tenant.server, `${CONFIGMAPS}/left-over`)
    expect(jsonAt(live, 'metadata', 'annotations')).toEqual({ mine: 'stays' })
    expect(jsonAt(live, 'metadata', 'labels')).not.toHaveProperty('fluxcd.io/sync-gc-mark')
    expect((await apply([configMap('apps', 'left-over')]))[0]).toMatchObject({ action: 'unchanged' })
  })

  test('switches that the platform does not allow do not count', async () => {
    const off: Json = {
      ...(configMap('apps', 'off') as object),
      metadata: {
        name: 'off',
        namespace: 'apps',
        annotations: {
          'kustomize.toolkit.fluxcd.io/reconcile': 'disabled',
          'kustomize.toolkit.fluxcd.io/ssa': 'Ignore',
        },
      },
    }
    expect((await apply([off]))[0]).toMatchObject({ action: 'skipped' })
    expect((await apply([off], { switches: ['ssa'] }))[0]).toMatchObject({
      action: 'skipped',
      message: 'kustomize.toolkit.fluxcd.io/ssa: Ignore',
    })
    expect((await apply([off], { switches: ['force', 'prune'] }))[0]).toMatchObject({ action: 'created' })
  })
})
