import { expect, test } from 'vitest'
import { evaluationOf, type Files, type Given, said } from '../fleet/fleet-of.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles, miniFleet } from '../fleet/mini-fleet.ts'

const INFRA = 'https://github.com/acme/infra'
const binding = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: x\n'
const source = (url: string, name: string, namespace: string, branch = 'main') =>
  `---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {url: ${url}, ref: {branch: ${branch}}}\n`
const follows = (name: string, namespace: string, account: string, ref = `{kind: GitRepository, name: ${name}}`) =>
  `---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  serviceAccountName: ${account}\n  sourceRef: ${ref}\n  path: ./deploy\n`
const platform = (name: string, ref?: string) => follows(name, 'flux-system', 'kustomize-controller', ref)

function world(extra: string, dev: Files = {}, more: NonNullable<Given['sources']> = []): Given {
  const fleet = {
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, extra.yaml]\n',
    'tenants/extra.yaml': extra,
  }
  const given = miniFleet({ fleet, dev })
  // whoever applies a repository a second time applies its objects twice: that is not what is asked here
  return { ...given, sources: [...given.sources!, ...more], disabledRules: ['ownership-conflict'] }
}
const tenantOf = (given: Given, key: string) => evaluationOf(given).nodes.find(node => node.key === key)?.tenant
const evil = { 'deploy/kustomization.yaml': 'resources: [web.yaml, x.yaml]\n', 'deploy/x.yaml': binding }

test('a tenant’s repository that the platform applies stays the tenant’s', () => {
  const extra = source(DEV_URL, 'z', 'flux-system') + platform('z')
  expect(said(evaluationOf(world(extra)))).toEqual([])
  const { verdict } = evaluationOf(world(extra, evil), { base: world(extra) })
  expect(verdict.violations.map(one => [one.rule, one.node, one.tenant])).toContainEqual([
    'cluster-scoped-forbidden',
    'staging/flux-system/z',
    'dev-team',
  ])
})

test('so does another branch of it, the source in its namespace, and its branch of the fleet’s own repository', () => {
  const branch = source(DEV_URL, 'z', 'flux-system', 'other') + platform('z')
  const other = { url: DEV_URL, ref: { branch: 'other' }, files: devFiles }
  expect(tenantOf(world(branch, {}, [other]), 'staging/flux-system/z')).toBe('dev-team')
  const borrowed = platform('z', '{kind: GitRepository, name: dev-team, namespace: apps}')
  expect(tenantOf(world(borrowed), 'staging/flux-system/z')).toBe('dev-team')
  const own =
    source(FLEET_URL, 'd', 'apps', 'dev') +
    follows('d', 'apps', 'dev-team') +
    source(FLEET_URL, 'z', 'flux-system', 'dev') +
    platform('z')
  const fleetBranch = { url: FLEET_URL, ref: { branch: 'dev' }, files: devFiles }
  expect(tenantOf(world(own, {}, [fleetBranch]), 'staging/flux-system/z')).toBe('dev-team')
})

test('what such a repository renders for the platform’s namespace is not followed', () => {
  const extra = source(DEV_URL, 'z', 'flux-system') + platform('z')
  const child = platform('kid', '{kind: GitRepository, name: z}')
  const dev = { 'deploy/kustomization.yaml': 'resources: [web.yaml, x.yaml]\n', 'deploy/x.yaml': child }
  const evaluation = evaluationOf(world(extra, dev))
  expect(said(evaluation)).toContain('namespace-confinement deploy/x.yaml:6')
  expect(evaluation.nodes.map(node => node.key)).not.toContain('staging/flux-system/kid')
})

const infra = [{ url: INFRA, files: { ...devFiles, ...evil } }]

test('the platform’s own repositories stay its own, whoever else follows them', () => {
  const extra = source(INFRA, 'z', 'flux-system') + platform('z')
  expect(said(evaluationOf(world(extra, {}, infra)))).toEqual([])
  const charts = extra + source(INFRA, 'charts', 'apps')
  expect(said(evaluationOf(world(charts, {}, infra)))).toEqual([])
  const dev = {
    'deploy/kustomization.yaml': 'resources: [web.yaml, y.yaml]\n',
    'deploy/y.yaml': source(INFRA, 'y', 'apps') + follows('y', 'apps', 'dev-team'),
  }
  const { violations } = evaluationOf(world(extra, dev, infra)).verdict
  const found = violations.filter(({ rule }) => rule !== 'schema-mismatch')
  expect(new Set(found.map(one => one.node))).toEqual(new Set(['staging/apps/y']))
})

test('a repository that several tenants share is no one’s', () => {
  const shared = ['apps', 'ops'].map(name => source(INFRA, 'base', name) + follows('base', name, 'x')).join('')
  const extra = shared + source(INFRA, 'z', 'flux-system') + platform('z')
  expect(tenantOf(world(extra, {}, infra), 'staging/flux-system/z')).toBeNull()
})

const tenants = fleetFiles['tenants/dev-team.yaml']!
const label = '  labels:\n    toolkit.fluxcd.io/tenant: dev-team\n'

test('a change that takes a tenant its label does not make it the platform', () => {
  const mono = tenants.replace(DEV_URL, FLEET_URL)
  const fleet = { 'tenants/dev-team.yaml': mono, ...devFiles }
  const lost = { ...fleet, 'tenants/dev-team.yaml': mono.replace(label, '') }
  const evaluation = evaluationOf(miniFleet({ fleet: lost }), { base: miniFleet({ fleet }) })
  expect(evaluation.verdict.result).toBe('fail')
  expect(said(evaluation)).toEqual(['namespace-confinement tenants/dev-team.yaml:3'])
  expect(evaluation.verdict.violations[0]).toMatchObject({ node: 'staging/apps/dev-team', state: 'new' })
  // Another repository than the fleet goes on being a tenant's, under the name of its namespace.
  const renamed = { 'tenants/dev-team.yaml': tenants.replace(label, '') }
  const { nodes, verdict } = evaluationOf(miniFleet({ fleet: renamed }), { base: miniFleet() })
  expect(verdict.result).toBe('pass')
  expect(nodes[2]).toMatchObject({ key: 'staging/apps/dev-team', tenant: 'apps' })
})

test('nor does moving its Kustomization and its source to the platform', () => {
  const moved = tenants
    .replaceAll('  name: dev-team\n  namespace: apps\nspec', '  name: dev-team\n  namespace: flux-system\nspec')
    .replace('serviceAccountName: dev-team', 'serviceAccountName: kustomize-controller')
  const evaluation = evaluationOf(miniFleet({ fleet: { 'tenants/dev-team.yaml': moved } }), { base: miniFleet() })
  expect(said(evaluation)).toContain('namespace-confinement tenants/dev-team.yaml:47')
  const nodes = evaluation.verdict.violations.map(({ rule, node }) => [rule, node])
  expect(nodes).toContainEqual(['namespace-confinement', 'staging/flux-system/dev-team'])
})

test('taking a tenant away is no loss of confinement', () => {
  const gone = { 'tenants/kustomization.yaml': 'resources: [ops-team.yaml]\n' }
  const { violations } = evaluationOf(miniFleet({ fleet: gone }), { base: miniFleet() }).verdict
  expect(violations.map(({ rule }) => rule).sort()).toEqual(['mass-deletion', 'prune-account-removed'])
})
