import { expect, test } from 'vitest'
import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import { evaluationOf, fleetOf, type Given, inputOf, said } from './fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from './mini-fleet.ts'

const kustomization = (namespace: string, name: string, path: string, rest = '') => `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  interval: 1h
  prune: true
  path: ${path}
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
${rest}`
const secret = (name: string, key = '') => `  kubeConfig: {secretRef: {name: ${name}${key && `, key: ${key}`}}}\n`
const namespace = (name: string, tenant?: string) =>
  `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}${tenant ? `, labels: {toolkit.fluxcd.io/tenant: ${tenant}}` : ''}}\n`
const config = (name: string, at: string, value = 'x') =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${at}}\ndata: {value: ${value}}\n`

/** A hub with two spokes, which get the same names. */
const hubFiles = {
  'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, spokes.yaml]\n',
  'clusters/staging/spokes.yaml': [
    namespace('east') + namespace('west'),
    kustomization('east', 'tenants', './spokes/east', secret('cluster-kubeconfig')),
    kustomization('west', 'tenants', './spokes/west', secret('cluster-kubeconfig')),
  ].join(''),
  'spokes/base/kustomization.yaml': 'resources: [all.yaml]\n',
  'spokes/base/all.yaml': namespace('shop', 'shop-team') + config('same', 'shop'),
  'spokes/east/kustomization.yaml': 'resources: [../base]\n',
  'spokes/west/kustomization.yaml': 'resources: [../base]\n',
}
const hub = (more: Record<string, string> = {}): Given => miniFleet({ fleet: { ...hubFiles, ...more } })
const EAST = 'staging -> kubeconfig east/cluster-kubeconfig'
const WEST = 'staging -> kubeconfig west/cluster-kubeconfig'
const clusterOf = (given: Given, name: string) => fleetOf(given).clusters.find(one => one.name === name)

test('a Kustomization with a kubeConfig belongs to another cluster, which is called by its Secret', () => {
  const fleet = fleetOf(hub())
  expect(fleet.clusters.map(({ name, path, hub }) => ({ name, path, hub }))).toEqual([
    { name: 'staging', path: 'clusters/staging', hub: undefined },
    { name: EAST, path: 'clusters/staging', hub: 'staging' },
    { name: WEST, path: 'clusters/staging', hub: 'staging' },
  ])
  const nodes = fleet.nodes.filter(node => node.hub !== undefined)
  expect(nodes).toMatchObject([
    { key: 'staging/east/tenants', cluster: EAST, hub: 'staging', parent: 'staging/flux-system/flux-system' },
    { key: 'staging/west/tenants', cluster: WEST, hub: 'staging', parent: 'staging/flux-system/flux-system' },
  ])
  expect(clusterOf(hub(), EAST)?.lockdown).toEqual(clusterOf(hub(), 'staging')?.lockdown)
  expect(said(evaluationOf(hub()))).toEqual(said(evaluationOf(miniFleet())))
})

test('the namespaces of a spoke make no tenants on its hub, nor on another spoke', () => {
  const given = hub({
    'spokes/east/kustomization.yaml': 'resources: [../base, own.yaml]\n',
    'spokes/east/own.yaml': namespace('apps', 'others'),
  })
  expect([...clusterOf(given, 'staging')!.owners!]).toEqual([...clusterOf(miniFleet(), 'staging')!.owners!])
  expect([...clusterOf(given, EAST)!.owners!].sort()).toEqual([
    ['apps', 'others'],
    ['shop', 'shop-team'],
  ])
  expect([...clusterOf(given, WEST)!.owners!]).toEqual([['shop', 'shop-team']])
  expect(fleetOf(given).nodes.filter(node => node.error)).toEqual([])
  expect(fleetOf(given).tenants.find(({ name }) => name === 'shop-team')).toMatchObject({ clusters: [EAST, WEST] })
})

test.each([
  ['a key', secret('k', 'config'), 'staging -> kubeconfig east/k/config'],
  ['the default key', secret('k', 'value'), 'staging -> kubeconfig east/k'],
  ['a ConfigMap', '  kubeConfig: {configMapRef: {name: k}}\n', 'staging -> kubeconfig ConfigMap/east/k'],
])('the cluster of %s', (_name, spec, cluster) => {
  const given = hub({
    'clusters/staging/spokes.yaml': namespace('east') + kustomization('east', 'tenants', './spokes/east', spec),
  })
  expect(fleetOf(given).nodes.find(node => node.name === 'tenants' && node.hub)).toMatchObject({ cluster })
})

test('an account that is named is impersonated there; without one the kubeconfig acts', () => {
  const open = fleetFiles['clusters/staging/flux-system/kustomization.yaml']!
  const spokes = (account: string) =>
    namespace('east') + kustomization('east', 'tenants', './spokes/east', secret('k') + account)
  const identity = (account: string, flux: string) =>
    fleetOf(
      hub({ 'clusters/staging/spokes.yaml': spokes(account), 'clusters/staging/flux-system/kustomization.yaml': flux }),
    ).nodes.find(node => node.hub)?.identity
  const without = open.slice(0, open.indexOf('patches:'))
  expect(identity('  serviceAccountName: flux\n', without)).toEqual({
    user: 'system:serviceaccount:east:flux',
    impersonated: true,
  })
  expect(identity('', open)).toEqual({ user: 'system:serviceaccount:east:default', impersonated: true })
  expect(identity('', without)).toEqual({ user: 'kubeconfig east/k', impersonated: false })
})

test('what is applied to a spoke is reconciled there: it becomes no node of the hub, and is listed', () => {
  const given = hub({ 'spokes/base/all.yaml': kustomization('flux-system', 'apps', './apps') })
  expect(fleetOf(given).nodes.map(({ key }) => key)).not.toContain('staging/flux-system/apps')
  expect(fleetOf(given).notReached).toEqual([
    {
      id: 'flux-system/apps',
      origin: { repository: FLEET_URL, file: 'spokes/base/all.yaml', line: 2, column: 1 },
      reason: `Kustomization staging/east/tenants applies it to ${EAST}, which has no known Flux`,
    },
  ])
})

test('values of a spoke are not those of its hub', () => {
  const reads = kustomization(
    'east',
    'reads',
    './spokes/reads',
    '  postBuild: {substituteFrom: [{kind: ConfigMap, name: same}]}\n',
  )
  const files = {
    'clusters/staging/spokes.yaml': hubFiles['clusters/staging/spokes.yaml'] + reads,
    'spokes/base/all.yaml': config('same', 'east'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux
    'spokes/reads/all.yaml': config('x', 'east', '"${value}"'),
  }
  const session = new FleetSession()
  const before = session.build(inputOf(hub(files)))
  expect(before.notSeen).toContainEqual(
    expect.objectContaining({ source: expect.stringContaining('ConfigMap/east/same') }),
  )
  // on the hub it is one, and a change of it counts for what reads it
  const own = {
    ...files,
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, spokes.yaml, same.yaml]\n',
  }
  const at = (value: string) => inputOf(hub({ ...own, 'clusters/staging/same.yaml': config('same', 'east', value) }))
  session.build(at('one'))
  const digests = (fleet: ReturnType<typeof fleetOf>) => fleet.nodes.map(({ key, digest }) => `${key} ${digest}`)
  expect(digests(session.build(at('two')))).toEqual(digests(new FleetSession().build(at('two'))))
})

test('a tenant who is sent away by a kubeConfig is not gone in silence', () => {
  const tenants = fleetFiles['clusters/staging/tenants.yaml']!
  const head = hub({ 'clusters/staging/tenants.yaml': `${tenants}${secret('elsewhere')}` })
  const { verdict } = evaluationOf(head, { base: hub() })
  expect([...verdict.violations, ...verdict.errors].filter(({ state }) => state === 'new')).not.toEqual([])
})

test("a tenant's own Kustomization with a kubeConfig stays under the tenant's rules", () => {
  const child = kustomization(
    'apps',
    'more',
    './more',
    `${secret('edge-kubeconfig')}  serviceAccountName: dev-team\n`,
  ).replace('name: flux-system, namespace: flux-system', 'name: dev-team')
  const given = miniFleet({
    fleet: { '.github/bailiwick.yaml': 'allowedKubeConfigs: [edge-kubeconfig]\n' },
    dev: {
      'deploy/kustomization.yaml': 'resources: [web.yaml, child.yaml]\n',
      'deploy/child.yaml': child,
      'more/all.yaml': config('x', 'ops'),
    },
  })
  expect(fleetOf(given).nodes.find(node => node.name === 'more')).toMatchObject({
    cluster: 'staging',
    tenant: 'dev-team',
  })
  expect(said(evaluationOf(given))).toEqual(['namespace-confinement more/all.yaml:4'])
})

test('a tenant who gives two clusters the same object is not in conflict with itself, one cluster twice is', () => {
  const child = (name: string, kubeconfig: string) =>
    kustomization(
      'apps',
      name,
      './more',
      `${kubeconfig && secret(kubeconfig)}  serviceAccountName: dev-team\n`,
    ).replace('name: flux-system, namespace: flux-system', 'name: dev-team')
  const given = (...children: string[]) =>
    miniFleet({
      fleet: { '.github/bailiwick.yaml': 'allowedKubeConfigs: [east, west]\n' },
      dev: {
        'deploy/kustomization.yaml': 'resources: [web.yaml, child.yaml]\n',
        'deploy/child.yaml': children.join(''),
        'more/all.yaml': config('x', 'apps'),
      },
    })
  const rules = (one: Given) => new Set(said(evaluationOf(one)).map(line => line.split(' ')[0]))
  expect(rules(given(child('a', 'east'), child('b', 'west')))).toEqual(new Set())
  expect(rules(given(child('a', 'east'), child('b', 'east')))).toEqual(new Set(['ownership-conflict']))
  expect(rules(given(child('a', 'east'), child('b', '')))).toEqual(new Set(['ownership-conflict']))
})
