import { describe, expect, test } from 'vitest'
import { graphText } from '../../../src/report/formats/graph-text.ts'
import { fleetPageOf } from '../../../src/report/page/build-pages.ts'
import type { FleetGraphNode } from '../../../src/report/page/fleet-page.ts'
import { NO_QUERY } from '../../../src/report/page/fleet-query.ts'
import { graphPicture } from '../../../src/report/page/graph-picture.ts'
import { html } from '../../../src/report/page/html.ts'
import { renderGraphPage } from '../../../src/report/page/render-graph-page.ts'
import { evaluationOf, fleetOf } from '../../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet } from '../../fleet/mini-fleet.ts'
import { atOnce } from '../../repository/runner/at-once.ts'

const COMMIT = 'f'.repeat(40)
const mini = (() => {
  const fleet = {
    repository: FLEET_URL,
    branch: 'main',
    commit: COMMIT,
    audit: [],
    access: { namespaces: [], left: 0 },
  }
  const place = { owner: 'acme', repo: 'fleet', at: '2026-11-23T00:00:00.000Z' }
  return atOnce(fleetPageOf({ ...fleet, evaluation: evaluationOf(miniFleet({})) }, place))
})()
const links = { here: FLEET_URL, commits: { [FLEET_URL]: COMMIT } }
const picture = (nodes: readonly FleetGraphNode[], limit = 100, zoom?: number) =>
  html`${graphPicture(nodes, { limit, page: '/fleets/acme/fleet', zoom, links })}`.toString()
const boxes = (svg: string) => svg.match(/<g class="box/g)?.length ?? 0
const titles = (svg: string) => [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map(match => match[1] ?? '')

const tenantNode = (index: number, over: Partial<FleetGraphNode> = {}): FleetGraphNode => ({
  ...{
    key: `staging/t${index}/t${index}`,
    parent: null,
    cluster: 'staging',
    namespace: `t${index}`,
    name: `t${index}`,
  },
  ...{ tenant: `t${index}`, identity: `system:serviceaccount:t${index}:t${index}`, objects: 1, suspend: false },
  source: {
    id: `GitRepository/t${index}/t${index}`,
    url: `https://github.com/acme/t${index}`,
    commit: COMMIT,
    notSeen: '',
  },
  namespaces: [`t${index}`],
  ...over,
})

describe('the picture of a graph', () => {
  test('has the Kustomizations and the edges between them that the command line draws', () => {
    const { nodes } = fleetOf(miniFleet({}))
    const svg = picture(mini.graph)
    const drawn = titles(svg).filter(title => title.startsWith('Kustomization '))
    expect(drawn.map(title => title.replace(/^Kustomization (\S+) on (\S+),.*$/, '$2/$1')).sort()).toEqual(
      nodes.map(({ key }) => key).sort(),
    )
    const applied = graphText(nodes).match(/==>/g)?.length ?? 0
    expect(applied).toBeGreaterThan(0)
    expect(svg.match(/<path class="own"/g)).toHaveLength(applied)
  })

  test('names repository, source, Kustomization with its tenant, and namespace; each leads somewhere', () => {
    const svg = picture([tenantNode(1, { declared: { repository: '', file: 'tenants/t1.yaml', line: 7 } })])
    expect(titles(svg)).toEqual([
      'Repository acme/t1, repository',
      'GitRepository t1/t1 on staging at fffffff',
      'Kustomization t1/t1 on staging, tenant t1, 1 object',
      'Namespace t1 on staging',
    ])
    expect([...svg.matchAll(/ href="([^"]*)"/g)].map(match => match[1])).toEqual([
      'https://github.com/acme/t1',
      `https://github.com/acme/t1/commit/${COMMIT}`,
      `${FLEET_URL}/blob/${COMMIT}/tenants/t1.yaml#L7`,
      '/fleets/acme/fleet?namespace=t1#access',
    ])
    expect(svg).toContain('aria-labelledby="map-title map-text"')
  })

  test('marks findings, and dashes what is suspended or not visible', () => {
    const hidden = { id: 'GitRepository/a/a', url: 'https://github.com/acme/a', commit: '', notSeen: 'no access' }
    const svg = picture([tenantNode(1, { open: 2, failed: 1, suspend: true }), tenantNode(2, { source: hidden })])
    expect(svg).toContain('2 open, 1 error')
    expect(svg.match(/ dash"/g)).toHaveLength(4)
    expect(titles(svg)).toContain('GitRepository a/a on staging, not visible: no access')
  })

  test('one box more than the limit: tenants, those with findings first, and what is left out is counted', () => {
    const nodes = Array.from({ length: 25 }, (_, index) => tenantNode(index, index === 24 ? { open: 1 } : {}))
    expect(boxes(picture(nodes, 100))).toBe(100)
    const grouped = picture(nodes, 99)
    expect(boxes(grouped)).toBeLessThanOrEqual(50)
    expect(grouped).toContain('More than 99 boxes')
    const shown = titles(grouped).filter(title => title.startsWith('Tenant '))
    expect(shown[0]).toBe('Tenant t24 on staging: 1 Kustomization, 1 object, 1 open')
    expect(grouped).toContain(` ${25 - shown.length} groups are not drawn`)
    expect(grouped).toContain('href="/fleets/acme/fleet/graph?tenant=t24"')
  })

  test('a Kustomization of many namespaces has one box for them', () => {
    const namespaces = Array.from({ length: 7 }, (_, index) => `n${index}`)
    expect(titles(picture([tenantNode(1, { namespaces, moreNamespaces: 3 })])).at(-1)).toBe(
      '10 namespaces on staging: n0, n1, n2, n3, n4, n5, n6',
    )
    expect(titles(picture([tenantNode(1, { namespaces: namespaces.slice(1) })]))).toHaveLength(9)
  })

  test('parents that go round or are missing end', () => {
    const nodes = [tenantNode(1, { parent: tenantNode(2).key }), tenantNode(2, { parent: tenantNode(1).key })]
    expect(boxes(picture([...nodes, tenantNode(3, { parent: 'gone' })]))).toBe(12)
  })

  test('whatever somebody is called, it is short and ends nothing', () => {
    const word = `</svg><script>"'\u202e${'x'.repeat(5_000)}`
    const { id: _, ...source } = tenantNode(1).source
    const named = { key: word, cluster: word, namespace: word, name: word, tenant: word, namespaces: [word] }
    const svg = picture([tenantNode(1, { ...named, source: { ...source, id: word, url: word, notSeen: word } })])
    expect(svg).not.toContain('<script')
    expect(svg).not.toContain('\u202e')
    expect(svg.length).toBeLessThan(12_000)
  })
})

describe('the page of a graph', () => {
  const render = (query: Partial<typeof NO_QUERY>) => renderGraphPage(mini, { query: { ...NO_QUERY, ...query } })

  test('draws what a filter leaves, with what applies it, and lists the same in a table', () => {
    const tenant = mini.graph.find(one => one.tenant !== '')?.tenant ?? ''
    const page = render({ tenant })
    const own = mini.graph.filter(one => one.tenant === tenant)
    expect(page).toContain(`${own.length} Kustomization`)
    expect(page.match(/<tr><th [^>]*scope="row"/g)).toHaveLength(own.length)
    expect(titles(page).filter(title => title.startsWith('Kustomization ')).length).toBeGreaterThan(own.length)
    expect(render({ tenant: 'none' })).toContain('No Kustomization matches the filters.')
  })

  test('in other sizes', () => {
    const width = (page: string) => Number(/<svg class="map[^>]* width="(\d+)"/.exec(page)?.[1])
    expect(render({})).toMatch(/<svg class="map fit"[^>]* width="100%"/)
    expect(width(render({ zoom: 200 }))).toBe(2 * width(render({ zoom: 100 })))
    expect(render({})).toContain('href="?zoom=150#clusters"')
  })
})
