import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type FleetQuery, NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { renderFleetPage } from '../../../src/report/page/render-fleet-page.ts'
import { renderGraphPage } from '../../../src/report/page/render-graph-page.ts'
import { largeFleet } from './large-fleet.ts'

const MAX_BYTES = 200_000

const QUERIES: readonly (readonly [string, (name: string) => Partial<FleetQuery>])[] = [
  ['everything', () => ({})],
  ['part 7 of each list', () => ({ parts: { pulls: 7, violations: 7, audit: 7, passed: 7, tenants: 7 } })],
  ['a tenant', name => ({ tenant: name })],
  ['a text', () => ({ text: '0042' })],
  ['a namespace', name => ({ namespace: name })],
  ['waived', () => ({ state: 'waived' })],
]

describe.each([
  ['a thousand tenants', ''],
  ['with names as long as Kubernetes allows', 'x'.repeat(244)],
])('%s', (_, tail) => {
  const { page, pulls, names } = largeFleet(1_000, tail)
  const name = names[42] ?? ''

  test.each(QUERIES)('the page with %s has less than 200 KB', (what, query) => {
    const look = { queue: [], pulls, query: { ...NO_QUERY, ...query(name) } }
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
  const packed = gzipSync(JSON.stringify(largeFleet(1_000).page))
  expect(packed.length).toBeLessThan(2 * 1024 * 1024)
  const start = performance.now()
  JSON.parse(gunzipSync(packed).toString('utf8'))
  console.info(`stored: ${packed.length} bytes, read in ${(performance.now() - start).toFixed(0)} ms`)
})
