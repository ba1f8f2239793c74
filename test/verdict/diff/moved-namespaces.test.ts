import { describe, expect, test } from 'vitest'
import { countsText } from '../../../src/report/changes.ts'
import { changeLists, changesText } from '../../../src/report/changes-text.ts'
import { type Changes, sumCounts } from '../../../src/verdict/diff/changes.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { type Files, fleetOf } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const DEV = fleetFiles['tenants/dev-team.yaml']!
const changes = (before: string, after: string, fleet: Files = {}): Changes =>
  changesOf(
    fleetOf(miniFleet({ fleet, dev: withResource(before) })),
    fleetOf(miniFleet({ fleet, dev: withResource(after) })),
  )
const yaml = (kind: string, name: string, namespace: string, more = '') =>
  `---\napiVersion: ${KINDS[kind] ?? 'v1'}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\n${more}`
const KINDS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  HelmRelease: 'helm.toolkit.fluxcd.io/v2',
  Widget: 'example.com/v1',
}
const happens = ({ nodes }: Changes) =>
  nodes.flatMap(({ objects }) =>
    objects.map(({ id, change, from, fate }) =>
      [change, id.kind, `${id.namespace}/${id.name}`, from, fate].filter(one => one !== undefined).join(' '),
    ),
  )
const lists = (one: Changes) =>
  changeLists(one)
    .map(({ text }) => text)
    .join('\n')

describe('an object in another namespace', () => {
  test('is moved, with what else changes in it', () => {
    const moved = changes(
      yaml('ConfigMap', 'a', 'apps', 'data: {x: "1"}\n'),
      yaml('ConfigMap', 'a', 'apps2', 'data: {x: "2"}\n'),
    )
    expect(happens(moved)).toEqual(['moved ConfigMap apps2/a apps'])
    expect(countsText(moved.totals)).toBe('1 moved')
    expect(lists(moved)).toBe('')
    const text = changesText(moved)
    expect(text).toContain('@@ ConfigMap apps2/a: moved from namespace apps @@\n-  data.x: "1"\n+  data.x: "2"')
    expect(text).not.toMatch(/DELETED|metadata\.namespace/)
  })

  test.each([
    ['PersistentVolumeClaim', 'maybe with its data'],
    ['StatefulSet', ''],
    ['HelmRelease', ''],
    ['Widget', ''],
  ])('is still listed as deleted where something may be lost with it: %s', (kind, what) => {
    const moved = changes(yaml(kind, 'a', 'apps'), yaml(kind, 'a', 'apps2'))
    expect(happens(moved)).toEqual([`moved ${kind} apps2/a apps deleted`])
    expect(moved.totals).toMatchObject({ moved: 1, removed: 0, deleted: 1 })
    expect(countsText(moved.totals)).toBe('1 moved, 1 of them DELETED')
    expect(lists(moved)).toContain('⚠️ 1 object will be DELETED')
    expect(lists(moved)).toContain(`\`${kind} apps/a\``)
    expect(lists(moved)).toContain('created anew in namespace `apps2`')
    expect(lists(moved)).toContain(what)
    expect(changesText(moved)).toContain('moved from namespace apps, where it will be DELETED')
  })

  test('a load balancer loses its address', () => {
    const service = (namespace: string, type: string) => yaml('Service', 'a', namespace, `spec: {type: ${type}}\n`)
    expect(happens(changes(service('apps', 'ClusterIP'), service('apps2', 'ClusterIP')))).toEqual([
      'moved Service apps2/a apps',
    ])
    expect(happens(changes(service('apps', 'LoadBalancer'), service('apps2', 'ClusterIP')))).toEqual([
      'moved Service apps2/a apps deleted',
    ])
  })
})

describe('what is no move', () => {
  test('another name, another kind', () => {
    expect(happens(changes(yaml('ConfigMap', 'a', 'apps'), yaml('ConfigMap', 'b', 'apps2')))).toEqual([
      'removed ConfigMap apps/a deleted',
      'added ConfigMap apps2/b',
    ])
    expect(happens(changes(yaml('ConfigMap', 'a', 'apps'), yaml('ServiceAccount', 'a', 'apps2')))).toEqual([
      'removed ConfigMap apps/a deleted',
      'added ServiceAccount apps2/a',
    ])
  })

  test('one that becomes several, or several that become one', () => {
    const both = yaml('ConfigMap', 'a', 'apps2') + yaml('ConfigMap', 'a', 'apps3')
    expect(happens(changes(yaml('ConfigMap', 'a', 'apps'), both)).sort()).toEqual([
      'added ConfigMap apps2/a',
      'added ConfigMap apps3/a',
      'removed ConfigMap apps/a deleted',
    ])
    expect(happens(changes(both, yaml('ConfigMap', 'a', 'apps'))).filter(one => one.includes('deleted'))).toHaveLength(
      2,
    )
  })

  test('one whose old object stays in the cluster', () => {
    const fleet = { 'tenants/dev-team.yaml': DEV.replace('prune: true', 'prune: false') }
    expect(happens(changes(yaml('ConfigMap', 'a', 'apps'), yaml('ConfigMap', 'a', 'apps2'), fleet))).toEqual([
      'removed ConfigMap apps/a orphaned',
      'added ConfigMap apps2/a',
    ])
  })
})

test('what moves and what goes are told apart in counts', () => {
  const counts = { added: 0, changed: 0, replaced: 0, moved: 2, removed: 1, deleted: 1 }
  expect(countsText(counts)).toBe('2 moved, 1 removed, 1 of them DELETED')
  expect(countsText(sumCounts([{ ...counts, moved: 0 }]))).toBe('1 removed (1 DELETED)')
})
