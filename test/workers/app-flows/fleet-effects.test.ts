import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { stagingTenants, tenantFiles } from '../story/tenant.ts'
import { deploymentFile, overlay } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const FLEET = 'acme/fleet'
const OPS = 'acme/ops-team'

let stage: Stage
let dev: number
let ops: number
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  const tenant = { name: 'ops-team', namespace: 'ops', url: 'https://github.com/acme/ops-team' }
  const files = { ...tenantFiles(tenant), ...stagingTenants(['ops-team']) }
  github.push({ repo: FLEET, files, as: 'ada' })
  dev = openDev(github, 'dev', {
    'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml'),
    'staging/web.yaml': deploymentFile('web', 'apps'),
  })
  const web = { 'kustomization.yaml': overlay({ moved: false }), 'report.yaml': deploymentFile('report') }
  github.push({ repo: OPS, branch: 'ops', parent: github.commitOf(OPS, 'main'), files: web, as: 'otto' })
  ops = github.openPullRequest({ repo: OPS, head: 'ops', as: 'otto' }).issue.number
  await stage.settle()
}, 60_000)
beforeEach(() => stage.github.forget())
afterAll(() => stage?.close())

/** Numbers of the pull requests that were evaluated since the last look. */
const evaluated = () =>
  stage.github.requests
    .flatMap(({ method, path }) => (method === 'GET' ? (/^\/repos\/(.*)\/pulls\/(\d+)$/.exec(path) ?? []) : []))
    .flatMap((part, index, all) => (index % 3 === 1 ? [`${part}#${all[index + 1]}`] : []))

const pushToFleet = async (files: Record<string, string>, remove: string[] = []) => {
  stage.github.push({ repo: FLEET, files, remove, as: 'ada' })
  await stage.settle()
  return new Set(evaluated())
}

test('both pass to begin with', () => {
  expect(said(stage.github, DEV, 'dev')).toMatchObject({ conclusion: 'success' })
  expect(said(stage.github, OPS, 'ops')).toMatchObject({ conclusion: 'success' })
})

test('what no Kustomization reads has nobody judged again', async () => {
  expect(await pushToFleet({ 'docs/notes.md': 'Notes.\n' })).toEqual(new Set())
}, 60_000)

test("a change of what one tenant deploys has its open pull requests judged again, and nobody else's", async () => {
  const file = 'tenants/base/ops-team/sync.yaml'
  const text = tenantFiles({ name: 'ops-team', namespace: 'ops', url: '' })[file]!
  const evaluatedNow = await pushToFleet({ [file]: text.replace(/path: .*/, 'path: ./nowhere') })
  expect(evaluatedNow).toEqual(new Set([`${OPS}#${ops}`]))
  await pushToFleet({ [file]: text })
}, 60_000)

test('a change of the rules is compared for everybody: who gets another verdict is judged again', async () => {
  const config = 'severities: [\n'
  expect(await pushToFleet({ '.github/bailiwick.yaml': config })).toContain(`${DEV}#${dev}`)
  await pushToFleet({}, ['.github/bailiwick.yaml'])
}, 60_000)

test('an object of the whole cluster may concern everybody: where the verdict stays, no request is made about it', async () => {
  const file = 'infrastructure/kustomization.yaml'
  const files = {
    [file]: fleetFiles(FLEET)[file]!.replace('resources:\n', 'resources:\n  - role.yaml\n'),
    'infrastructure/role.yaml':
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: viewer\nrules: []\n',
  }
  const runs = () => [DEV, OPS].map(repo => stage.github.checkRunsOf(repo, repo === DEV ? 'dev' : 'ops').length)
  const before = runs()
  expect(await pushToFleet(files)).toEqual(new Set())
  expect(runs()).toEqual(before)
  const asked = stage.github.requests.filter(({ path, status }) => path.startsWith(`/repos/${DEV}`) && status !== 304)
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([])
}, 60_000)

test('a push of one tenant within its own namespace has only its own pull requests judged again', async () => {
  const { github } = stage
  const files = {
    'base/kustomization.yaml': withResource('base/kustomization.yaml', 'cache.yaml'),
    'base/cache.yaml': deploymentFile('cache', 'apps'),
  }
  github.push({ repo: DEV, files, as: 'ada' })
  await stage.settle()
  expect(new Set(evaluated())).toEqual(new Set([`${DEV}#${dev}`]))
}, 60_000)

test('a pull request of the fleet lists the tenants that it would break', async () => {
  const { github } = stage
  // the tenant's own objects still say apps
  const file = 'tenants/production/kustomization.yaml'
  const change = { [file]: fleetFiles(FLEET)[file]!.replace('namespace: apps', 'namespace: shop') }
  github.propose({ repo: FLEET, branch: 'move', files: change, as: 'ada' })
  await stage.settle()
  const run = said(github, FLEET, 'move')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toMatch(
    /Would break 1 other repository<\/summary>\n\n`acme\/dev-team` \(\d+ new violations? on `production`\)\n/,
  )
  expect(run.output.summary).not.toMatch(/Would break[^#]*ops-team/)
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
