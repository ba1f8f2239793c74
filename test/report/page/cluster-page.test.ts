import { expect, test } from 'vitest'
import type { ClusterPage, NodeState } from '../../../src/report/cluster-page.ts'
import { renderClusterPage } from '../../../src/report/page/render-cluster-page.ts'
import { readPagePath } from '../../../src/surface/pages/page-address.ts'

const node = (at: number, more: Partial<NodeState> = {}): NodeState => ({
  key: `staging/apps/tenant-${String(at).padStart(4, '0')}`,
  user: 'system:serviceaccount:apps:tenant',
  phase: 'applied',
  repository: 'https://github.com/acme/fleet',
  commit: 'a'.repeat(40),
  digest: 'd',
  since: '',
  counts: { created: 2 },
  objects: [],
  ...more,
})
const page = (nodes: readonly NodeState[], more: Partial<ClusterPage> = {}): ClusterPage => ({
  ...{ kind: 'cluster', owner: 'acme', repo: 'fleet', repositoryId: 1, visibility: 'private', cluster: 'staging' },
  ...{ repository: 'https://github.com/acme/fleet', at: '2026-01-01T10:00:00Z', isRunning: false, nodes, drift: [] },
  ...more,
})

test('1,000 Kustomizations are paged, what failed first', () => {
  const nodes = Array.from({ length: 1000 }, (_, at) => node(at))
  nodes[990] = node(990, { phase: 'failed', reason: 'away', retryAt: '2026-01-01T10:05:00Z' })
  const keysOf = (number: number) => renderClusterPage(page(nodes), { page: number }).match(/tenant-\d{4}/g) ?? []
  expect(keysOf(1)).toHaveLength(100)
  expect(keysOf(1)[0]).toBe('tenant-0990')
  const all = Array.from({ length: 10 }, (_, at) => keysOf(at + 1)).flat()
  expect(new Set(all).size).toBe(1000)
  for (const wrong of [0, -1, 1.5, Number.NaN, 1e9, Number.POSITIVE_INFINITY]) expect(keysOf(wrong)).toHaveLength(100)
  const text = renderClusterPage(page(nodes), { page: 1 })
  expect(text).toContain('Part 1 of 10')
  expect(text).toContain('2026-01-01 10:05 UTC')
})

test('everything from outside is escaped', () => {
  const hostile = '"><script>alert(1)</script>'
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: hostile }
  const place = { repository: `javascript:${hostile}`, file: hostile, line: 1 }
  const bad = node(1, {
    ...{ key: hostile, user: hostile, reason: hostile, repository: `javascript:${hostile}`, commit: hostile, place },
    objects: [{ object, action: 'refused', message: hostile, place }],
  })
  const text = renderClusterPage(page([bad], { problem: hostile, cluster: hostile, at: hostile }), { page: 1 })
  expect(text).not.toContain('<script')
  expect(text).not.toContain('href="javascript')
})

test('the path of a page is a repository and the name of a cluster', () => {
  expect(readPagePath('/clusters/acme/fleet/staging')).toEqual({
    ...{ kind: 'cluster', owner: 'acme', repo: 'fleet', cluster: 'staging' },
  })
  for (const path of [
    '/clusters/acme/fleet',
    '/clusters/acme/fleet/Staging',
    '/clusters/acme/fleet/a/b',
    '/clusters/acme/fleet/..',
  ])
    expect(readPagePath(path)).toBeUndefined()
})
