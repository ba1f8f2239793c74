import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { until } from '../queue/until.ts'
import { batchFiles, batchObjects, liveObjects, stagingOverlay } from './batch.ts'
import { live, liveStatus } from './live.ts'
import { linesOf, propose, said, saidOfApply, saidOfTip } from './said.ts'
import { type Stage, startStage } from './stage.ts'
import { stagingTenants, tenantFiles } from './tenant.ts'
import { deploymentFile } from './tenant-changes.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const TEAM = 'acme/dev-team'
const FLEET = 'acme/fleet'
const STOREFRONT = '/apis/apps/v1/namespaces/apps/deployments/storefront'

describe.skipIf(missing)(`bad input and outages${missing ? ` (${missing})` : ''}`, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ clusters: ['staging'], retry: { attempts: 6, backoffMs: 300 } })
    await stage.settle()
  })
  afterAll(() => stage?.close())
  afterEach(async () => {
    const ready = await fetch(`${stage.site.url}/readyz`)
    expect(ready.status, 'the process stays up').toBe(200)
    for (const repo of [TEAM, FLEET]) {
      const open = stage.github.pullRequestsOf(repo).filter(({ issue }) => issue.state === 'open')
      for (const { issue } of open) stage.github.closePullRequest({ repo, pull: issue.number, as: 'ada' })
    }
  })
  const staging = () => stage.clusters.staging!

  test('malformed YAML: an error at its line; a pull request of the fleet does not notice', async () => {
    const files = { 'base/service.yaml': 'apiVersion: v1\nkind: Service\nmetadata:\n  name: [storefront\nspec: {}\n' }
    const run = await propose(stage, { repo: TEAM, branch: 'malformed', files })
    expect(run).toMatchObject({ conclusion: 'failure' })
    for (const at of linesOf(run)) expect(at).toEqual({ path: 'base/service.yaml', line: 5 })
    expect(run.annotations.length).toBeGreaterThan(0)
    const other = await propose(stage, { repo: FLEET, branch: 'unrelated', files: { 'docs.md': 'Nothing.\n' } })
    expect(other).toMatchObject({ conclusion: 'success' })
  })

  test('an unknown field of a kustomization: an error that names the field, at its line', async () => {
    const text = `${fleetFiles(TEAM)['base/kustomization.yaml']}resourcez:\n  - more.yaml\n`
    const run = await propose(stage, {
      repo: TEAM,
      branch: 'unknown-field',
      files: { 'base/kustomization.yaml': text },
    })
    expect(run).toMatchObject({ conclusion: 'failure' })
    const line = text.split('\n').indexOf('resourcez:') + 1
    expect(linesOf(run)).toContainEqual({ path: 'base/kustomization.yaml', line })
    expect(run.annotations[0]!.message).toContain('resourcez')
  })

  test('a merge conflict: could not be evaluated, with the fix', async () => {
    const { github } = stage
    const parent = github.commitOf(TEAM, 'main')
    const readme = (text: string) => ({ 'README.md': text })
    github.push({ repo: TEAM, files: readme('# One\n'), as: 'ada' })
    github.push({ repo: TEAM, branch: 'conflict', parent, files: readme('# Two\n'), as: 'ada' })
    github.openPullRequest({ repo: TEAM, head: 'conflict', as: 'ada' })
    await stage.settle()
    const run = said(github, TEAM, 'conflict')
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.title).toMatch(/^Merge conflict with main: nothing was checked/)
    expect(run.output.summary).toContain('Resolve the conflict')
  })

  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (const [index, name] of [...'bcdefghij'].entries()) {
    const before = 'abcdefghij'[index]!
    bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`)
  }
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hostile\n  namespace: apps\n'
  const hostile: [string, string][] = [
    ['an alias bomb', `${head}${bomb.join('\n')}\n`],
    ['20,000 nested brackets', `${head}data: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`],
    ['30 MB of YAML', `${head}data:\n${`  key: ${'on and on '.repeat(1_000)}\n`.repeat(3_400)}`],
  ]
  test.each(hostile)('%s: an error within the limits', { timeout: 120_000 }, async (name, text) => {
    const files = { 'base/service.yaml': text }
    const run = await propose(stage, { repo: TEAM, branch: name.replaceAll(/[^a-z]/g, '-'), files })
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.title).toMatch(/Could not be evaluated|error/)
  })

  test("a fork's pull request is judged like any other", async () => {
    const { github } = stage
    github.addRepository({ owner: 'finn', name: 'dev-team', forkOf: TEAM, roles: { finn: 'admin' } })
    const files = {
      'staging/kustomization.yaml': stagingOverlay(['stray.yaml']),
      'staging/stray.yaml': deploymentFile('stray', 'sandbox'),
    }
    github.push({ repo: 'finn/dev-team', branch: 'idea', parent: github.commitOf(TEAM, 'main'), files, as: 'finn' })
    github.openPullRequest({ repo: TEAM, headRepo: 'finn/dev-team', head: 'idea', as: 'finn' })
    await stage.settle()
    const run = said(github, TEAM, github.commitOf('finn/dev-team', 'idea'))
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(linesOf(run)).toContainEqual({ path: 'staging/stray.yaml', line: 5 })
  })

  test('an empty repository and one that the App may not read: judged by identity, not seen, never applied', async () => {
    const { github } = stage
    github.addRepository({ owner: 'acme', name: 'empty', roles: { ada: 'admin' } })
    const empty = { name: 'empty', namespace: 'void', url: 'https://github.com/acme/empty' }
    const foreign = { name: 'foreign', namespace: 'abroad', url: 'https://github.com/elsewhere/secret' }
    const nameless = await propose(stage, {
      repo: FLEET,
      branch: 'nameless',
      files: { ...tenantFiles({ ...foreign, nameless: true }), ...stagingTenants(['foreign']) },
    })
    expect(nameless).toMatchObject({ conclusion: 'failure' })
    expect(nameless.annotations.map(({ title }) => title).join()).toContain('sa-required')
    const files = { ...tenantFiles(empty), ...tenantFiles(foreign), ...stagingTenants(['empty', 'foreign']) }
    const run = await propose(stage, { repo: FLEET, branch: 'unseen', files })
    expect(run).toMatchObject({ conclusion: 'success' })
    for (const { url } of [empty, foreign]) expect(run.output.summary).toContain(url.replace('https://', ''))
    const pull = github.pullRequestsOf(FLEET).at(-1)!.issue.number
    expect(github.merge({ repo: FLEET, pull, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
    const applied = saidOfApply(github, FLEET)
    for (const key of ['staging/void/empty', 'staging/abroad/foreign']) expect(applied.output.summary).toContain(key)
    expect(await liveStatus(staging(), '/api/v1/namespaces/void/serviceaccounts/empty')).toBe(200)
    expect(await liveStatus(staging(), STOREFRONT)).toBe(200)
    github.push({ repo: 'acme/empty', files: { 'web.yaml': deploymentFile('web', 'void') }, as: 'ada' })
    await stage.settle()
    expect(await liveStatus(staging(), '/apis/apps/v1/namespaces/void/deployments/web')).toBe(200)
    const gone = Object.keys(files).filter(path => path.startsWith('tenants/base/'))
    github.push({ repo: FLEET, files: stagingTenants([]), remove: gone, as: 'ada' })
    await stage.settle()
    // all that the tenant had goes at once, which an admin approves
    const held = (saidOfApply(github, FLEET).output.summary ?? '').replaceAll('`', '')
    const body = /\/bailiwick approve-prune [0-9a-f]{32}/.exec(held)![0]
    const issue = github.issue({ repo: FLEET, title: 'void leaves', as: 'ada' }).number
    github.comment({ repo: FLEET, issue, as: 'ada', body })
    await stage.settle()
    expect(await liveStatus(staging(), '/apis/apps/v1/namespaces/void/deployments/web')).toBe(404)
  })

  test.each([
    [502, {}],
    [403, { 'retry-after': '1' }],
  ])('GitHub answers %i for a while: the verdict arrives in the end', async (status, headers) => {
    const { github } = stage
    const branch = `while-${status}`
    github.failNext(6, status, headers, ({ path }) => path.startsWith(`/repos/${TEAM}/`))
    expect(await propose(stage, { repo: TEAM, branch, files: { 'README.md': `# ${status}\n` } })).toMatchObject({
      conclusion: 'success',
    })
  })

  test('the API server goes away during an apply and comes back: nothing is lost', async () => {
    const { github } = stage
    github.push({ repo: TEAM, files: batchFiles('batch-outage'), as: 'ada' })
    await until(async () => (await liveObjects(staging())).some(object => object.includes('batch-outage')))
    await staging().pause()
    await sleep(1_000)
    await staging().resume()
    await stage.settle()
    expect(await liveObjects(staging())).toEqual(batchObjects('batch-outage'))
    expect(saidOfApply(github, TEAM)).toMatchObject({ conclusion: 'success' })
  })

  test('an API server that stays away: the fleet is told, and the next look brings it right', async () => {
    const { github } = stage
    await staging().pause()
    github.push({ repo: TEAM, files: batchFiles('batch-later'), as: 'ada' })
    await stage.settle()
    expect(saidOfTip(github, TEAM)).toMatchObject({ conclusion: 'success' })
    expect(saidOfApply(github, FLEET)).toMatchObject({ conclusion: 'failure' })
    expect(saidOfApply(github, FLEET).output.summary).toMatch(/staging/)
    await staging().resume()
    await stage.site.queue.add('reconcile', { cluster: 'staging' })
    await stage.settle()
    expect(await liveObjects(staging())).toEqual(batchObjects('batch-later'))
    expect(saidOfApply(github, FLEET)).toMatchObject({ conclusion: 'success' })
  }, 90_000)

  test('nobody pushes and nobody asks: drift is put back by the timer', async () => {
    stage.environment.RESYNC_SECONDS = '1'
    await stage.restart()
    await staging().request(
      'PATCH',
      STOREFRONT,
      { spec: { replicas: 9 } },
      { contentType: 'application/merge-patch+json' },
    )
    await until(async () => {
      const { spec } = await live(staging(), STOREFRONT)
      return (spec as { replicas: number }).replicas === 1
    })
    stage.environment.RESYNC_SECONDS = '3600'
    await stage.restart()
    await stage.settle()
  })

  test('a kustomize-controller is active: the cluster is refused, said on the commit of the fleet', async () => {
    const { github } = stage
    const path = '/apis/apps/v1/namespaces/flux-system/deployments/kustomize-controller'
    const merge = { contentType: 'application/merge-patch+json' }
    expect(await staging().request('PATCH', path, { spec: { replicas: 1 } }, merge)).toMatchObject({ status: 200 })
    github.push({ repo: TEAM, files: batchFiles('batch-refused'), as: 'ada' })
    await stage.settle()
    const run = saidOfApply(github, FLEET)
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.summary).toContain(
      'has an active kustomize-controller: Deployment `flux-system/kustomize-controller` has replicas',
    )
    expect(await liveObjects(staging())).toEqual(batchObjects('batch-later'))
  })

  test('every request was one that GitHub describes', () => {
    expect(stage.github.violations).toEqual([])
    expect(stage.github.unknown).toEqual([])
  })
})
