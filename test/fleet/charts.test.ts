import { expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import { readsFrom } from '../../src/verdict/verdict-views.ts'
import { evaluationOf, type Files, fleetOf, inputOf } from './fleet-of.ts'
import { miniFleet, withResource } from './mini-fleet.ts'

const CHARTS = 'https://github.com/acme/charts'
const release = (name: string, source: string) => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ${name}, namespace: apps}
spec:
  serviceAccountName: dev-team
  interval: 5m
  chart: {spec: {chart: shop, sourceRef: {kind: GitRepository, name: ${source}}}}
`
const source = (name: string, url: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ${name}, namespace: apps}
spec: {interval: 1m, url: "${url}", ref: {branch: main}}
`
const dev = withResource(`${release('shop', 'charts')}---\n${source('charts', CHARTS)}`)

/** The fleet with a repository that only a release reads. */
const given = (charts: Files, files: Files = dev) => {
  const fleet = miniFleet({ dev: files })
  return { ...fleet, sources: [...fleet.sources!, { url: CHARTS, files: charts }] }
}

test('a repository that only holds a chart is asked for, and belongs to who deploys it', () => {
  const wanted = { url: CHARTS, ref: { branch: 'main' } }
  expect(fleetOf(miniFleet({ dev })).wanted).toEqual([wanted])
  const opaque = { ...miniFleet({ dev }), opaque: [{ ...wanted, reason: 'nobody may read it' }] }
  expect(fleetOf(opaque).notSeen).toMatchObject([{ url: CHARTS, reason: 'nobody may read it' }])

  const [before, after] = [given({ 'shop/Chart.yaml': 'name: shop\n' }), given({ 'shop/Chart.yaml': 'name: other\n' })]
  const { verdict, nodes } = evaluationOf(after, { base: before, changed: CHARTS })
  expect(verdict.warnings.filter(one => one.state === 'new')).toMatchObject([
    {
      rule: 'chart-content-change',
      node: 'staging/apps/dev-team',
      origin: { repository: CHARTS, file: 'shop/Chart.yaml' },
    },
  ])
  expect(nodes.filter(node => readsFrom(node, CHARTS)).map(node => node.key)).toEqual(['staging/apps/dev-team'])
})

test('a release of the platform makes nobody read its chart', () => {
  const own = `${release('own', 'charts')}---\n${source('charts', CHARTS)}`.replaceAll(
    'namespace: apps',
    'namespace: flux-system',
  )
  const fleet = { 'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, own.yaml]\n' }
  expect(fleetOf(miniFleet({ fleet: { ...fleet, 'clusters/staging/own.yaml': own } })).wanted).toEqual([])
})

test('charts from more sources than are read are an error of the tenant who names them', () => {
  const documents = Array.from({ length: 201 }, (_one, index) => [
    release(`r${index}`, `s${index}`),
    source(`s${index}`, `${CHARTS}-${index}`),
  ])
  const errors = (count: number) => {
    const { nodes } = fleetOf(miniFleet({ dev: withResource(documents.slice(0, count).flat().join('---\n')) }))
    return nodes.flatMap(({ key, error }) => (error ? [[key, error.code]] : []))
  }
  expect(errors(200)).toEqual([])
  expect(errors(201)).toEqual([['staging/apps/dev-team', 'render-limits']])
})

test('a session gives what a build gives when a chart, its release or its source changes', () => {
  const shop = { 'shop/Chart.yaml': 'name: shop\n' }
  const states = [
    given(shop),
    given({ 'shop/Chart.yaml': 'name: other\n' }),
    given(shop, withResource(`${release('shop', 'dev-team')}---\n${source('charts', CHARTS)}`)),
    given(
      shop,
      withResource(`${release('shop', 'charts')}---\n${source('charts', 'https://github.com/acme/ops-team')}`),
    ),
    given(shop),
  ]
  const session = new FleetSession()
  for (const [run, state] of states.entries()) {
    const sources = state.sources!.map(one => ({ ...one, commit: String(run).repeat(40) }))
    const input = inputOf({ ...state, sources })
    const charts = (fleet: ReturnType<typeof buildFleet>) => fleet.nodes.map(node => [node.key, node.charts])
    expect(charts(session.build(input))).toEqual(charts(buildFleet(input)))
  }
})
