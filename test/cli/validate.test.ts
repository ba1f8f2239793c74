import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEWEST } from '../../src/schema/types-table.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles } from '../fleet/mini-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const WRONG =
  'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: apps\nspec:\n  selector: {app: web}\n  port: [{port: 80}]\n  type: clusterip\n'

const SYNC = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: ${FLEET_URL}, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/staging, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

function fleetWith(extra: string, config = ''): { dir: string; args: string[] } {
  const dir = scratch()
  const kustomization = devFiles['deploy/kustomization.yaml'] ?? 'resources: []\n'
  write(dir, {
    ...Object.fromEntries(Object.entries(fleetFiles).map(([path, text]) => [`fleet/${path}`, text])),
    ...Object.fromEntries(Object.entries(devFiles).map(([path, text]) => [`dev/${path}`, text])),
    'dev/deploy/kustomization.yaml': kustomization.replace('resources:', 'resources:\n  - extra.yaml'),
    'dev/deploy/extra.yaml': extra,
    ...(config === '' ? {} : { 'fleet/.github/bailiwick.yaml': config }),
  })
  return { dir, args: ['fleet', '--url', FLEET_URL, '--repo', `${DEV_URL}=${join(dir, 'dev')}`] }
}

test('each field that is refused, at its line and column, with the edit', async () => {
  const { dir, args } = fleetWith(WRONG)
  const { code, stdout } = await run(dir, 'validate', ...args, '--kubernetes', `1.${NEWEST}`)
  expect(code).toBe(1)
  expect(stdout).toContain(`staging (Kubernetes 1.${NEWEST})`)
  expect(stdout).toContain('deploy/extra.yaml:8:3')
  // a text for people is broken after 100 characters
  expect(stdout.replace(/\n {6}/g, ' ')).toContain(
    `Service apps/web: Kubernetes 1.${NEWEST} has no field "spec.port". Rename it to ports, or remove it.`,
  )
  expect(stdout).toContain('deploy/extra.yaml:9:9')
  expect(stdout.replace(/\n {6}/g, ' ')).toContain('Allowed: ClusterIP, ExternalName, LoadBalancer, NodePort.')
  const places = stdout.split('\n').filter(line => /:\d+:\d+: (?:violation|warning)$/.test(line))
  expect(places.map(line => line.split(' ').at(-1))).toEqual(['violation', 'violation'])
})

test('one tenant of one cluster, and what is not listed; a name that is nowhere is an error', async () => {
  const { dir, args } = fleetWith(WRONG)
  const of = (...more: string[]) => run(dir, 'validate', ...args, '--kubernetes', `1.${NEWEST}`, ...more)
  const own = await of('--tenant', 'dev-team', '--cluster', 'staging')
  expect([own.code, own.stdout]).toEqual([1, expect.stringContaining('deploy/extra.yaml:9:9: violation')])
  expect(own.stdout).toContain('only tenant dev-team; not listed: 1 other tenant, the platform')
  const other = await of('--tenant', 'ops-team')
  expect([other.code, other.stdout]).toEqual([0, expect.not.stringContaining('extra.yaml')])
  for (const format of ['json', 'sarif', 'junit', 'github', 'flux-schema']) {
    const { code, stdout } = await of('--tenant', 'ops-team', '-o', format)
    expect([format, code, stdout.includes('extra.yaml')]).toEqual([format, 0, false])
  }
  for (const [option, name, meant] of [
    ['--tenant', 'dev-taem', 'dev-team'],
    ['--cluster', 'stagin', 'staging'],
  ] as const) {
    const { code, stdout, stderr } = await of(option, name)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`Did you mean ${meant}?`)])
  }
})

/** Served up to 1.33. */
const OLD =
  'apiVersion: resource.k8s.io/v1alpha3\nkind: ResourceClaim\nmetadata: {name: x, namespace: apps}\nspec: {}\n'

test('without a version the newest is assumed, and what it alone refuses is a warning', async () => {
  const { dir, args } = fleetWith(OLD)
  const assumed = await run(dir, 'validate', ...args)
  expect([assumed.code, assumed.stdout]).toEqual([0, expect.stringContaining(`(Kubernetes 1.${NEWEST}, assumed)`)])
  expect(assumed.stdout).toContain('deploy/extra.yaml:1:13: warning')
  expect((await run(dir, 'validate', ...args, '--strict')).code).toBe(1)
  const certain = fleetWith(WRONG)
  const refused = await run(certain.dir, 'validate', ...certain.args)
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('deploy/extra.yaml:9:9: violation')])
  const declared = fleetWith(OLD, 'kubernetes: [{version: "1.34"}]\n')
  const { code, stdout } = await run(declared.dir, 'validate', ...declared.args)
  expect([code, stdout]).toEqual([1, expect.stringContaining('deploy/extra.yaml:1:13: violation')])
  for (const [format, level] of [
    ['sarif', '"level": "warning"'],
    ['github', '::warning '],
    ['json', '"level": "warning"'],
    ['junit', 'apiVersion'],
    ['flux-schema', '"status": "invalid"'],
  ] as const) {
    const other = await run(dir, 'validate', ...args, '-o', format)
    expect([format, other.code], format).toEqual([format, 0])
    expect(other.stdout.replaceAll('":"', '": "'), format).toContain(level)
  }
})

test('the version is the asked one, else the declared one', async () => {
  const { dir, args } = fleetWith(WRONG, 'kubernetes: [{version: "1.34"}]\n')
  expect((await run(dir, 'validate', ...args)).stdout).toContain('Kubernetes 1.34')
  expect((await run(dir, 'validate', ...args, '--kubernetes', 'v1.35')).stdout).toContain('Kubernetes 1.35')
  const unknown = await run(dir, 'validate', ...args, '--kubernetes', '1.99')
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Allowed: 1.31, ')])
})

test('json has every problem, and what was not compared by kind', async () => {
  const widget = '---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: apps}\nspec: {a: 1}\n'
  const { dir, args } = fleetWith(`${WRONG}${widget}`)
  const { stdout } = await run(dir, 'validate', ...args, '-o', 'json')
  const { clusters } = JSON.parse(stdout) as { clusters: Record<string, unknown>[] }
  expect(clusters[0]).toMatchObject({
    cluster: 'staging',
    notCompared: expect.objectContaining({ 'example.com/v1 Widget': 1 }),
  })
  const lines = (await run(dir, 'validate', ...args)).stdout
  expect(lines).toMatch(/^ {2}not compared: \d+ objects? \((?:.*, )?example\.com\/v1 Widget[,)]/m)
  const ofTenant = (clusters[0]!.refused as { object: string }[]).filter(({ object }) => object === 'Service apps/web')
  expect(ofTenant).toMatchObject([
    { field: 'spec.type', kind: 'not-allowed', line: 9, column: 9 },
    { field: 'spec.port', kind: 'unknown-field', line: 8, column: 3 },
  ])
})

test('a Kustomization that does not build is an error, whatever else is valid', async () => {
  const { dir, args } = fleetWith('kind: [\n')
  const { code, stderr } = await run(dir, 'validate', ...args)
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error\[/)])
})

test('a fleet whose objects are accepted, or lose a field, ends with 0', async () => {
  const dir = scratch()
  const service = WRONG.replace('clusterip', 'ClusterIP\n  clusterIP: None')
  write(dir, {
    'clusters/staging/apps.yaml': SYNC,
    'apps/service.yaml': service.replace('namespace: apps', 'namespace: flux-system'),
  })
  const { code, stdout, stderr } = await run(dir, 'validate', '--url', FLEET_URL)
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('Flux drops the field "spec.port"')])
})

test('formats for programs have the same places', async () => {
  const { dir, args } = fleetWith(WRONG)
  const as = async (format: string) =>
    (await run(dir, 'validate', ...args, '--kubernetes', `1.${NEWEST}`, '-o', format)).stdout
  const own = scratch()
  write(own, { 'clusters/staging/apps.yaml': SYNC, 'apps/service.yaml': WRONG.replace(': apps', ': flux-system') })
  const sarif = (await run(own, 'validate', '--url', FLEET_URL, '--kubernetes', `1.${NEWEST}`, '-o', 'sarif')).stdout
  const { runs } = JSON.parse(sarif) as { runs: { results: { level: string; locations: unknown }[] }[] }
  const ofType = runs[0]!.results.filter(one => JSON.stringify(one).includes('spec.type'))
  expect(ofType).toMatchObject([{ level: 'error' }])
  expect(JSON.stringify(ofType[0]!.locations)).toContain('"startLine":9,"startColumn":9')
  expect(await as('junit')).toContain('spec.type')
  expect(await as('github')).toMatch(/^::error /m)
  const { apiVersion, report } = JSON.parse(await as('flux-schema')) as {
    apiVersion: string
    report: { summary: { total: number; invalid: number }; results: Record<string, unknown>[] }
  }
  expect(apiVersion).toBe('schema.plugin.fluxcd.io/v1beta1')
  expect(report.results).toHaveLength(report.summary.total)
  expect(report.results).toContainEqual(
    expect.objectContaining({
      resource: { apiVersion: 'v1', kind: 'Service', namespace: 'apps', name: 'web' },
      status: 'invalid',
      reason: 'schema-violation',
      violations: expect.arrayContaining([{ path: '/spec/type', message: expect.stringContaining('spec.type') }]),
    }),
  )
  const unknown = await run(dir, 'validate', ...args, '-o', 'xml')
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Allowed: text, json, sarif')])
})
