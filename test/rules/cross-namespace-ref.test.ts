import { expect, test } from 'vitest'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const object = (apiVersion: string, kind: string, spec: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: x\n  namespace: apps\nspec:\n  serviceAccountName: dev-team\n${spec}`
const kustomize = 'kustomize.toolkit.fluxcd.io/v1'
const own = '  sourceRef: {kind: GitRepository, name: dev-team}\n  path: ./nothing\n'

/** Every place where Flux reads a namespace of another object; each line of the namespace is named by the rule. */
const places: [string, string, string, string][] = [
  [
    'sourceRef',
    kustomize,
    'Kustomization',
    '  sourceRef:\n    kind: GitRepository\n    name: flux-system\n    namespace: NS\n',
  ],
  ['dependsOn', kustomize, 'Kustomization', `${own}  dependsOn:\n    - name: a\n      namespace: NS\n`],
  [
    'healthChecks',
    kustomize,
    'Kustomization',
    `${own}  healthChecks:\n    - kind: Deployment\n      name: a\n      namespace: NS\n`,
  ],
  [
    'chart',
    'helm.toolkit.fluxcd.io/v2',
    'HelmRelease',
    '  chart:\n    spec:\n      sourceRef:\n        kind: HelmRepository\n        name: a\n        namespace: NS\n',
  ],
  [
    'chartRef',
    'helm.toolkit.fluxcd.io/v2',
    'HelmRelease',
    '  chartRef:\n    kind: OCIRepository\n    name: a\n    namespace: NS\n',
  ],
  [
    'an old version',
    'helm.toolkit.fluxcd.io/v2beta1',
    'HelmRelease',
    '  dependsOn:\n    - name: a\n      namespace: NS\n',
  ],
  [
    'image policy',
    'image.toolkit.fluxcd.io/v1beta2',
    'ImagePolicy',
    '  imageRepositoryRef:\n    name: a\n    namespace: NS\n',
  ],
  [
    'image automation',
    'image.toolkit.fluxcd.io/v1beta2',
    'ImageUpdateAutomation',
    '  sourceRef:\n    kind: GitRepository\n    name: flux-system\n    namespace: NS\n',
  ],
  [
    'receiver',
    'notification.toolkit.fluxcd.io/v1',
    'Receiver',
    '  resources:\n    - kind: GitRepository\n      name: a\n      namespace: NS\n',
  ],
  [
    'alert',
    'notification.toolkit.fluxcd.io/v1beta3',
    'Alert',
    "  eventSources:\n    - kind: Kustomization\n      name: '*'\n      namespace: NS\n",
  ],
  [
    'artifact generator',
    'source.extensions.fluxcd.io/v1beta1',
    'ArtifactGenerator',
    '  sources:\n    - alias: a\n      kind: GitRepository\n      name: a\n      namespace: NS\n',
  ],
  [
    'resource set',
    'fluxcd.controlplane.io/v1',
    'ResourceSet',
    '  dependsOn:\n    - apiVersion: v1\n      kind: ConfigMap\n      name: a\n      namespace: NS\n',
  ],
]

test.each(places)('%s into another namespace', (_what, apiVersion, kind, spec) => {
  const text = object(apiVersion, kind, spec.replace('NS', 'flux-system'))
  const line = text.split('\n').findIndex(one => one.endsWith('namespace: flux-system')) + 1
  const evaluation = evaluationOf(miniFleet({ dev: withResource(text) }))
  expect(said(evaluation).filter(one => one.startsWith('cross-'))).toEqual([
    `cross-namespace-ref deploy/extra.yaml:${line}`,
  ])
})

test.each(places.slice(1))('%s in its own namespace', (_what, apiVersion, kind, spec) => {
  const evaluation = evaluationOf(
    miniFleet({ dev: withResource(object(apiVersion, kind, spec.replace('NS', 'apps'))) }),
  )
  expect(said(evaluation).filter(one => one.startsWith('cross-'))).toEqual([])
})

test.each(['Apps', '"apps "', 'apps-two', 'ops'])('%s is not its own namespace', namespace => {
  const text = object(kustomize, 'Kustomization', `${own}  dependsOn: [{name: a, namespace: ${namespace}}]\n`)
  expect(said(evaluationOf(miniFleet({ dev: withResource(text) })))[0]).toMatch(
    /^cross-namespace-ref deploy\/extra.yaml:/,
  )
})

test('a sourceRef into another namespace that the platform wrote is what Flux would refuse', () => {
  const file = fleetFiles['tenants/dev-team.yaml']!.replace(
    '    name: dev-team\n  path',
    '    name: flux-system\n    namespace: flux-system\n  path',
  )
  const { violations } = evaluationOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': file } })).verdict
  expect(violations).toHaveLength(1)
  expect(violations[0]).toMatchObject({
    rule: 'cross-namespace-ref',
    node: 'staging/apps/dev-team',
    origin: { file: 'tenants/dev-team.yaml', line: 50 },
  })
  expect(violations[0]!.message).toContain(
    "can't access 'GitRepository/flux-system/flux-system', cross-namespace references have been blocked",
  )
})

test('what the platform makes a tenant depend on is its own affair', () => {
  const file = fleetFiles['tenants/dev-team.yaml']!.replace(
    '  path: ./deploy',
    '  dependsOn: [{name: tenants, namespace: flux-system}]\n  path: ./deploy',
  )
  expect(said(evaluationOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': file } })))).toEqual([])
})

test("another tenant's source is a violation, and its content is not shown", () => {
  const text = object(
    kustomize,
    'Kustomization',
    '  interval: 1h\n  prune: true\n  sourceRef: {kind: GitRepository, name: ops-team, namespace: ops}\n  path: ./deploy\n',
  )
  const { verdict, nodes } = evaluationOf(miniFleet({ dev: withResource(text) }))
  expect(verdict.violations.map(one => one.rule)).toEqual(['cross-namespace-ref'])
  expect(nodes.find(node => node.key === 'staging/apps/x')).toMatchObject({ objects: [], digest: '' })
})

const shared = (selector: string) => ({
  'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, charts.yaml]\n',
  'tenants/charts.yaml': `apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata:\n  name: charts\n  namespace: flux-system\nspec:\n  url: https://charts.example.com\n  accessFrom:\n    namespaceSelectors: ${selector}\n`,
})
const release = object(
  'helm.toolkit.fluxcd.io/v2',
  'HelmRelease',
  '  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}\n',
)

const overlay = 'clusters/staging/flux-system/kustomization.yaml'
const unlocked = { [overlay]: 'resources: [gotk-components.yaml, gotk-sync.yaml]\n' }
const rulesOf = (...[given]: Parameters<typeof miniFleet>) =>
  said(evaluationOf(miniFleet(given))).filter(one => !one.startsWith('sa-required'))

test.each([
  ['[{matchLabels: {}}]', true],
  ['[{}]', true],
  ['[{matchLabels: {kubernetes.io/metadata.name: apps}}]', true],
  ['[{matchLabels: {toolkit.fluxcd.io/tenant: dev-team}}]', true],
  ['[{matchLabels: {toolkit.fluxcd.io/tenant: ops-team}}, {matchLabels: {kubernetes.io/metadata.name: apps}}]', true],
  ['[]', false],
  ['[{matchLabels: {toolkit.fluxcd.io/tenant: ops-team}}]', false],
  ['[{matchLabels: {toolkit.fluxcd.io/tenant: dev-team, team: web}}]', false],
  ['[{matchLabels: {kubernetes.io/metadata.name: ops}}]', false],
  ['[{matchLabels: all}]', false],
  ['[{matchLabels: {}, matchExpressions: []}]', false],
  ['[null]', false],
  ['[{matchLabels: {toolkit.fluxcd.io/tenant: 7}}]', false],
])('a source with accessFrom %s: open is %s, but never where Flux refuses', (selector, open) => {
  const fleet = { ...unlocked, ...shared(selector) }
  expect(rulesOf({ fleet, dev: withResource(release) })).toEqual(open ? [] : ['source-acl deploy/extra.yaml:8'])
  const locked = rulesOf({ fleet: shared(selector), dev: withResource(release) })
  expect(locked).toContain('cross-namespace-ref deploy/extra.yaml:8')
  expect(locked.includes('source-acl deploy/extra.yaml:8')).toBe(!open)
})

test('under the flag the message tells what the list says, too', () => {
  const text = release.replace('spec:\n', 'spec:\n  interval: 5m\n')
  const given = miniFleet({ fleet: shared('[{matchLabels: {}}]'), dev: withResource(text) })
  const [found] = evaluationOf(given).verdict.violations
  expect(found!.message).toContain('The access control list of the source admits the namespace')
  expect(found!.message).toContain("can't access 'HelmRepository/flux-system/charts', cross-namespace references")
})

test('a platform’s ImageRepository opens itself in the same way', () => {
  const policy = object(
    'image.toolkit.fluxcd.io/v1',
    'ImagePolicy',
    '  imageRepositoryRef: {name: base, namespace: flux-system}\n',
  )
  const images = (labels: string) => ({
    ...unlocked,
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, image.yaml]\n',
    'tenants/image.yaml': `apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: base, namespace: flux-system}\nspec: {accessFrom: {namespaceSelectors: [{matchLabels: ${labels}}]}}\n`,
  })
  const rules = (labels: string) => rulesOf({ fleet: images(labels), dev: withResource(policy) })
  expect(rules('{toolkit.fluxcd.io/tenant: dev-team}')).toEqual([])
  expect(rules('{toolkit.fluxcd.io/tenant: ops-team}')).toEqual(['source-acl deploy/extra.yaml:8'])
})
