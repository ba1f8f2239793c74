import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ListedFinding } from '../../../src/report/page/fleet-findings.ts'
import type { FleetGraphNode } from '../../../src/report/page/fleet-graph.ts'
import { withEntries } from '../../../src/report/page/fleet-history.ts'
import type { FleetPage } from '../../../src/report/page/fleet-page.ts'
import { type PullRow, settledPulls } from '../../../src/report/page/fleet-pulls.ts'
import { type FleetQuery, NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { renderFleetPage } from '../../../src/report/page/render-fleet-page.ts'
import { renderGraphPage } from '../../../src/report/page/render-graph-page.ts'
import { FLEET } from '../samples.ts'

const MAX_BYTES = 200_000
const SHA = 'a'.repeat(40)
const AT = '2026-11-23T10:00:00.000Z'

/** A fleet with that many tenants on two clusters; every name ends so. */
function fleetOf(tenants: number, tail = '') {
  const names = Array.from({ length: tenants }, (_, at) => `team-${String(at).padStart(4, '0')}${tail}`)
  const clusters = ['production', 'staging']
  const origin = (name: string) => ({ repository: FLEET, file: `tenants/base/${name}/sync.yaml`, line: 7, column: 1 })
  const graph: FleetGraphNode[] = clusters.flatMap(cluster =>
    names.map(name => ({
      ...{ key: `${cluster}/${name}/${name}`, parent: null, cluster, namespace: name, name, tenant: name, objects: 9 },
      ...{ identity: `system:serviceaccount:${name}:${name}`, suspend: false, open: 1, failed: 0, namespaces: [name] },
      source: { id: `GitRepository/${name}/${name}`, url: `https://github.com/acme/${name}`, commit: SHA, notSeen: '' },
      declared: origin(name),
    })),
  )
  const findings: ListedFinding[] = names.flatMap(name =>
    (['open', 'accepted', 'waived'] as const).map(state => ({
      ...{ kind: 'violation', state, rule: 'namespace-confinement', severity: 'high', tenant: name, clusters },
      ...{ object: `Deployment ${name}/${name}`, objects: 2, message: `Deployment ${name} lies elsewhere. `.repeat(9) },
      origin: origin(name),
      ...(state === 'waived' ? { waiver: { expires: '2026-12-31', approver: name, reason: `for ${name}` } } : {}),
    })),
  )
  const changer = (name: string) => ({
    ...{ kind: 'Kustomization', namespace: name, name, tenant: name, ownCluster: true, impersonated: true },
    ...{ repository: { url: `https://github.com/acme/${name}`, ref: 'main', path: './deploy' } },
    user: `system:serviceaccount:${name}:${name}`,
    rights: [{ subject: name, binding: name, role: name, clusterWide: true, madeBy: 'fleet', origin: origin(name) }],
  })
  const page = {
    ...{ kind: 'fleet', owner: 'acme', repo: 'fleet', repositoryId: 7, visibility: 'private', repository: FLEET },
    ...{ branch: 'main', commit: SHA, at: AT, result: 'fail', left: {}, trail: 'on', graph, findings },
    counts: { nodes: graph.length, objects: 9 * graph.length, violations: tenants, errors: 0 },
    clusters: clusters.map(name => ({ name, path: `clusters/${name}`, nodes: tenants })),
    tenants: names.map(name => ({
      name,
      clusters,
      namespaces: [name],
      identities: [`system:serviceaccount:${name}:x`],
    })),
    sources: names.map(name => ({ id: name, url: `https://github.com/acme/${name}`, commit: SHA, used: 2 })),
    notSeen: names.map(name => ({
      source: name,
      url: `https://github.com/acme/${name}`,
      reason: `no access to ${name}`,
    })),
    audit: clusters.map(cluster => ({
      ...{ cluster, path: '' },
      items: names.map((name, at) => ({
        ...{
          check: 'source-address',
          subject: name,
          state: at % 2 === 0 ? 'weak' : 'ok',
          message: `${name} is open. `,
        },
        ...{ why: 'Anyone can write there. '.repeat(4), fix: `Set the address of ${name}.`, origin: origin(name) },
      })),
    })),
    policies: names.map(name => ({
      ...{ cluster: 'staging', kind: 'ClusterPolicy', namespace: '', name, origin: origin(name), notEvaluated: [] },
      ...{ rules: [{ rule: name, passed: 1, denied: 1, warned: 1, audited: 1, notEvaluated: 1, why: name }] },
      exceptions: [{ name, origin: origin(name) }],
    })),
    access: {
      namespaces: names.map(namespace => ({
        ...{ cluster: 'staging', namespace, tenant: namespace, others: [], unknown: [], left: 0 },
        changers: names.slice(0, 60).map(changer),
      })),
      left: 0,
    },
    commits: { [FLEET]: SHA },
  } as unknown as FleetPage
  const rows: PullRow[] = names.map((repo, at) => ({
    ...{ owner: 'acme', repo, number: at + 1, title: `change ${repo}`, author: 'dora', base: 'main', isDraft: true },
    ...{ headSha: SHA, tenants: names.slice(0, 20), visibility: 'private' },
  }))
  const entry = (seq: number) => ({
    ...{ seq, at: AT, kind: 'verdict', who: 'dora', repository: `acme/${names[seq % tenants] ?? ''}`, commit: SHA },
    ...{ pull: seq, result: 'failure', file: 'trail/0000000001.jsonl', line: seq, added: SHA },
  })
  const none = { owner: 'acme', repo: 'fleet', repositoryId: 7, rows: [] }
  return {
    page,
    pulls: settledPulls({ ...none, left: 0 }, rows, AT),
    history: withEntries(
      none,
      names.map((_, at) => entry(at + 1)),
    ),
    names,
  }
}

const QUERIES: readonly (readonly [string, (name: string) => Partial<FleetQuery>])[] = [
  ['everything', () => ({})],
  ['part 7 of each list', () => ({ parts: { pulls: 7, violations: 7, audit: 7, passed: 7, tenants: 7, history: 7 } })],
  ['a tenant', name => ({ tenant: name })],
  ['a text', () => ({ text: '0042' })],
  ['a namespace', name => ({ namespace: name })],
  ['waived', () => ({ state: 'waived' })],
]

describe.each([
  ['a thousand tenants', ''],
  ['with names as long as Kubernetes allows', 'x'.repeat(244)],
])('%s', (_, tail) => {
  const { page, pulls, history, names } = fleetOf(1_000, tail)
  const name = names[42] ?? ''

  test.each(QUERIES)('the page with %s has less than 200 KB', (what, query) => {
    const look = { queue: [], pulls, history, maintains: true, query: { ...NO_QUERY, ...query(name) } }
    const start = performance.now()
    const html = renderFleetPage(page, look)
    console.info(`${what}: ${html.length} bytes, ${(performance.now() - start).toFixed(0)} ms`)
    expect(Buffer.byteLength(html)).toBeLessThan(MAX_BYTES)
    expect(html).toContain('</html>')
    if (what === 'everything' && tail === '')
      for (const list of ['Part 1 of 125', 'Part 1 of 42']) expect(html).toContain(list)
  })

  test.each(QUERIES.slice(0, 4))('the graph with %s has less than 200 KB', (what, query) => {
    const start = performance.now()
    const html = renderGraphPage(page, { query: { ...NO_QUERY, ...query(name) } })
    console.info(`graph with ${what}: ${html.length} bytes, ${(performance.now() - start).toFixed(0)} ms`)
    expect(Buffer.byteLength(html)).toBeLessThan(MAX_BYTES)
    expect(html).toContain('<svg')
  })
})

test('what is stored of a thousand tenants fits the store, and is read at once', () => {
  const packed = gzipSync(JSON.stringify(fleetOf(1_000).page))
  expect(packed.length).toBeLessThan(2 * 1024 * 1024)
  const start = performance.now()
  JSON.parse(gunzipSync(packed).toString('utf8'))
  console.info(`stored: ${packed.length} bytes, read in ${(performance.now() - start).toFixed(0)} ms`)
})
