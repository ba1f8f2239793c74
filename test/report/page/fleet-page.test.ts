import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fleetPageOf } from '../../../src/report/page/build-pages.ts'
import type { FleetPage } from '../../../src/report/page/fleet-page.ts'
import {
  type FleetQuery,
  NO_QUERY,
  queryAddress,
  readFleetQuery,
  withFewerRows,
} from '../../../src/report/page/fleet-query.ts'
import { renderFleetPage } from '../../../src/report/page/render-fleet-page.ts'
import type { Finding, Verdict } from '../../../src/rules/model/finding.ts'
import { PAGE_LIMITS, PageStore } from '../../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { atOnce } from '../../repository/runner/at-once.ts'
import { node } from '../../surface/web/sample-pages.ts'
import { FLEET, failure, finding, OPS, verdict } from '../samples.ts'

const SHA = 'a'.repeat(40)

function pageOf(over: Partial<Verdict>, more: Partial<FleetPage> = {}): FleetPage {
  const fleet = {
    ...{ repository: FLEET, branch: 'main', commit: SHA, audit: [], access: { namespaces: [], left: 0 } },
    evaluation: { verdict: verdict(over), nodes: [node()] },
  }
  return { ...atOnce(fleetPageOf(fleet, { owner: 'acme', repo: 'fleet', at: '2026-11-23T00:00:00.000Z' })), ...more }
}

const render = (page: FleetPage, query: Partial<FleetQuery> = {}) =>
  renderFleetPage(page, { queue: [], query: { ...NO_QUERY, ...query } })

/** The text of one section. */
function section(html: string, id: string): string {
  const start = html.indexOf(`<h2 id="${id}">`)
  expect(start, id).toBeGreaterThan(0)
  return html
    .slice(start, html.indexOf('</section>', start))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
}

const at = (file: string, line: number) => ({ repository: OPS, file, line, column: 1 })
const MIXED: Partial<Verdict> = {
  result: 'fail',
  violations: [
    finding({ fingerprint: '1', origin: at('open.yaml', 3) }),
    finding({ fingerprint: '2', origin: at('open.yaml', 3), cluster: 'production' }),
    finding({ fingerprint: '3', state: 'standing', tenant: 'dev-team', origin: at('old.yaml', 4) }),
    finding({
      ...{ fingerprint: '4', state: 'waived', origin: at('waived.yaml', 5), rule: 'image-registry' },
      waiver: { expires: '2026-12-31', approver: 'ada', reason: 'until the registry is there' },
    }),
    finding({ fingerprint: '5', state: 'fixed', origin: at('gone.yaml', 6) }),
  ],
  warnings: [finding({ fingerprint: '6', level: 'warning', severity: 'low', tenant: '', origin: at('note.yaml', 7) })],
  errors: [failure()],
}

describe('violations of the branch', () => {
  test('by tenant: each cause once, with its clusters, its state and its line at the commit', () => {
    const page = pageOf(MIXED, { commits: { [OPS]: 'b'.repeat(40) } })
    const html = render(page)
    expect(html).toContain(`href="${OPS}/blob/${'b'.repeat(40)}/open.yaml#L3"`)
    const text = section(html, 'violations')
    expect(text).toContain('Violations by tenant (5)')
    expect(text).toMatch(/ops-team 1 open 1 not evaluated 1 waived .*dev-team 1 in the baseline .*Platform 1 warning/)
    expect(text).toContain('production, staging')
    expect(text).toContain('Waived until 2026-12-31 by ada: until the registry is there')
    expect(text).not.toContain('gone.yaml')
  })

  test.each<[FleetQuery['state'], string]>([
    ['open', 'open.yaml'],
    ['accepted', 'old.yaml'],
    ['waived', 'waived.yaml'],
    ['warning', 'note.yaml'],
    ['error', 'kustomization.yaml'],
  ])('of state %s only', (state, file) => {
    const text = section(render(pageOf(MIXED), { state }), 'violations')
    const files = ['open.yaml', 'old.yaml', 'waived.yaml', 'note.yaml', 'kustomization.yaml']
    expect(files.filter(one => text.includes(one))).toEqual([file])
  })

  test.each<[string, Partial<FleetQuery>, readonly string[]]>([
    ['tenant', { tenant: 'DEV-team' }, ['old.yaml']],
    ['cluster', { cluster: 'production' }, ['open.yaml']],
    ['file', { text: 'WAIVED.y' }, ['waived.yaml']],
    ['rule', { text: 'image-reg' }, ['waived.yaml']],
    ['words of the message', { text: 'replacements' }, ['kustomization.yaml']],
    ['nothing that there is', { text: 'zzz' }, []],
  ])('by %s', (_, query, expected) => {
    const text = section(render(pageOf(MIXED), query), 'violations')
    const files = ['open.yaml', 'old.yaml', 'waived.yaml', 'note.yaml', 'kustomization.yaml']
    expect(files.filter(one => text.includes(one))).toEqual(expected)
    if (expected.length === 0) expect(text).toContain('No finding matches the filters.')
  })

  test('none is said', () => {
    expect(section(render(pageOf({})), 'violations')).toContain('The branch has no violation')
  })

  test('3,000 are stored, open ones first, and the rest is counted', () => {
    const many = (state: Finding['state'], count: number) =>
      Array.from({ length: count }, (_, index) =>
        finding({ state, fingerprint: `${state}${index}`, origin: at(`${state}.yaml`, index + 1) }),
      )
    const page = pageOf({ result: 'fail', violations: [...many('standing', 2_000), ...many('new', 1_001)] })
    expect(page.findings).toHaveLength(3_000)
    expect(page.findings?.filter(({ state }) => state === 'open')).toHaveLength(1_001)
    expect(page.left).toEqual({ findings: 1 })
    expect(section(render(page), 'violations')).toContain('1 more are not stored for this page.')
    expect(section(render(page, { parts: { violations: 125 } }), 'violations')).toContain('standing.yaml:')
    expect(section(render(page, { parts: { violations: 999 } }), 'violations')).toContain('Part 125 of 125')
  })
})

describe('more than the page holds', () => {
  const hugeFinding = (index: number): Finding =>
    finding({
      ...{ fingerprint: `${index}`, state: index % 2 === 0 ? 'standing' : 'new', message: 'm'.repeat(1024 * 1024) },
      ...{ tenant: `${'t'.repeat(250)}${index}`, origin: at(`${'f'.repeat(4_000)}${index}.yaml`, 1) },
    })

  test('rows that are too long for the store are counted, open violations kept first, and the rest can be stored', async () => {
    const page = pageOf({ result: 'fail', violations: Array.from({ length: 2_000 }, (_, index) => hugeFinding(index)) })
    const kept = page.findings?.length ?? 0
    expect(kept).toBeGreaterThan(500)
    expect(JSON.stringify(page.findings).length).toBeLessThan(4.1 * 1024 * 1024)
    expect(page.left.findings).toBe(2_000 - kept)
    expect(page.findings?.filter(({ state }) => state === 'open').length).toBe(Math.min(kept, 1_000))
    expect(await new PageStore(new MemoryTtlStore(PAGE_LIMITS)).keep(page)).toBe(true)
    const html = render(page)
    expect(section(html, 'violations')).toContain(`${(2_000 - kept).toLocaleString('en-US')} more are not stored`)
    expect(html).toContain('Violations by tenant (2,000)')
    expect(Buffer.byteLength(html)).toBeLessThan(200_000)
  })

  const audit = (items: number, state: 'weak' | 'ok') => ({
    ...{ cluster: `${state}-cluster`, path: '' },
    items: Array.from({ length: items }, (_, index) => ({
      ...{ check: 'default-account', subject: `${state}-${index}`, state, message: 'm', why: 'w', fix: 'f' },
    })),
  })
  const fleetOf = (more: object) => {
    const fleet = { repository: FLEET, branch: 'main', commit: SHA, audit: [], access: { namespaces: [], left: 0 } }
    const evaluation = { verdict: verdict(), nodes: [node()] }
    return atOnce(
      fleetPageOf({ ...fleet, evaluation, ...more }, { owner: 'acme', repo: 'fleet', at: '2026-11-23T00:00:00Z' }),
    )
  }

  test('an audit of 2,000 rows is stored, of 2,001 one that passes is left out, whichever cluster has them', () => {
    const whole = fleetOf({ audit: [audit(1_990, 'weak'), audit(10, 'ok')] })
    expect([whole.left, whole.audit.map(({ items }) => items.length)]).toEqual([{}, [1_990, 10]])
    const cut = fleetOf({ audit: [audit(11, 'ok'), audit(1_990, 'weak')] })
    expect([cut.left, cut.audit.map(({ items }) => items.length)]).toEqual([{ audit: 1 }, [10, 1_990]])
    expect(section(render(cut), 'audit')).toContain('1 more are not stored')
  })

  test('of a policy 100 rules and exceptions are stored, and the others counted on the page', () => {
    const rule = (name: string) => ({
      rule: name,
      passed: 1,
      denied: 0,
      warned: 0,
      audited: 0,
      notEvaluated: 0,
      why: '',
    })
    const names = Array.from({ length: 101 }, (_, index) => `n${index}`)
    const origin = at('policy.yaml', 1)
    const policy = {
      ...{ cluster: 'staging', kind: 'ClusterPolicy', namespace: '', name: 'p', origin, notEvaluated: [] },
      ...{ rules: names.map(rule), exceptions: names.map(name => ({ name, origin })) },
    }
    const text = section(render(fleetOf({ policies: [policy] })), 'policies')
    expect(text).toContain('and 81 more rules')
    expect(text).toContain('and 91 more')
  })

  test('the figures at the top count what is not stored', () => {
    const tenants = Array.from({ length: 3_001 }, (_, index) => ({
      ...{ name: `t${index}`, clusters: ['staging'], namespaces: [], identities: [] },
    }))
    const page = pageOf({ tenants })
    expect([page.tenants.length, page.left]).toEqual([3_000, { tenants: 1 }])
    expect(render(page)).toContain('<span>tenants</span><b>3,001</b>')
  })
})

describe('the query of a request', () => {
  test('is read back from its own address', () => {
    const query: FleetQuery = {
      ...{ text: 'a&b=c#d', tenant: 'ä', cluster: 'staging', state: 'waived', namespace: 'ops', zoom: 150, rows: 12 },
      parts: { violations: 3 },
    }
    const address = queryAddress(query, 'violations')
    expect(address).toMatch(/^\?text=a%26b%3Dc%23d&tenant=%C3%A4&.*#violations$/)
    expect(readFleetQuery(new URL(address, 'http://x.invalid').searchParams)).toEqual(query)
  })

  test('with fewer rows begins at the same rows', () => {
    let query: FleetQuery | undefined = { ...NO_QUERY, parts: { violations: 3, pulls: 1 } }
    const first = []
    for (; query; query = withFewerRows(query)) {
      first.push([query.rows, (query.parts.violations ?? 1) * query.rows - query.rows, query.parts.pulls])
    }
    expect(first).toEqual([
      [24, 48, 1],
      [12, 48, 1],
      [6, 48, 1],
      [3, 48, 1],
    ])
  })

  test('whatever it says, it is bounded and gives a page', () => {
    const page = pageOf(MIXED)
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constantFrom('1e9', '-1', '0', '__proto__'),
    )
    const names = ['text', 'tenant', 'cluster', 'state', 'namespace', 'zoom', 'violations-part', '__proto__', 'x-part']
    const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 12 })
    fc.assert(
      fc.property(pairs, params => {
        const query = readFleetQuery(new URLSearchParams(params))
        expect(queryAddress(query).length).toBeLessThan(9_000)
        const html = renderFleetPage(page, { queue: [], query })
        expect(html.length).toBeLessThan(200_000)
        expect(html).not.toMatch(/<script|\son\w+=/)
      }),
      { numRuns: 50 },
    )
  })
})

test('the queue shows what is not zero', () => {
  const idle = { waiting: 0, active: 0, delayed: 0, failed: 0 }
  const queue = [
    { queue: 'sweep', ...idle },
    { queue: 'survey', ...idle, delayed: 2 },
  ]
  const text = section(renderFleetPage(pageOf({}), { queue }), 'queue')
  expect(text).toContain('survey 0 0 2 0')
  expect(text).not.toContain('sweep')
  expect(section(renderFleetPage(pageOf({}), { queue: queue.slice(0, 1) }), 'queue')).toContain('The queue is empty')
  expect(section(renderFleetPage(pageOf({}), { queue: undefined }), 'queue')).toContain('the queue does not answer')
})
