import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import type { startClusterWorkers } from '../../../workers/apply/run-in-cluster.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { fetchWork, type InClusterWorld, openInCluster } from './in-cluster-world.ts'
import { live, liveStatus } from './live.ts'
import { deploymentFile, makeByHand } from './tenant-changes.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const APPLY = 'bailiwick / apply (staging)'
const STOREFRONT = '/apis/apps/v1/namespaces/apps/deployments/storefront'
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/bailiwick-system/leases/bailiwick-worker'

describe.skipIf(missing)(`a worker in its cluster${missing ? ` (${missing})` : ''}`, () => {
  let world: InClusterWorld
  const workers: ReturnType<typeof startClusterWorkers>[] = []
  beforeAll(async () => {
    world = await openInCluster()
    await world.stage.settle()
  }, 120_000)
  afterAll(() => world?.close())

  const applied = (repo: string, ref = 'main') =>
    world.stage.github.checkRunsOf(repo, ref).findLast(({ name }) => name === APPLY)
  const holder = async () => stringAt((await world.cluster.request('GET', LEASE)).body, 'spec', 'holderIdentity')

  test('nothing is applied, and nothing is said to be, before a worker is there', async () => {
    expect(applied('acme/fleet')).toBeUndefined()
    expect(await liveStatus(world.cluster, STOREFRONT)).toBe(404)
  })

  test('from approved to applied with the rights of deploy/worker and of `worker-rbac` alone', async () => {
    workers.push(world.startWorker())
    await world.comesTo(() => applied('acme/fleet')?.conclusion === 'success')
    expect(await liveStatus(world.cluster, STOREFRONT)).toBe(200)
    expect(applied('acme/dev-team')).toMatchObject({ conclusion: 'success' })
    const made = await live(world.cluster, STOREFRONT)
    expect(jsonAt(made, 'metadata', 'labels', 'kustomize.toolkit.fluxcd.io/name')).toBe('dev-team')
  })

  const REPORT = STOREFRONT.replace('storefront', 'report')
  const merge = async (branch: string, files: Readonly<Record<string, string>>): Promise<number> => {
    const { github } = world.stage
    const repo = 'acme/dev-team'
    const number = github.propose({ repo, branch, files, title: `Add ${branch}`, as: 'dora' })
    await world.stage.settle()
    expect(github.merge({ repo, pull: number, as: 'dora' })).toMatchObject({ status: 200 })
    return number
  }
  const withBase = (...names: readonly string[]) => {
    const text = fleetFiles('acme/dev-team')['base/kustomization.yaml']!
    const more = names.map(name => `  - ${name}.yaml\n`).join('')
    return text.replace('  - widget.yaml\n', `  - widget.yaml\n${more}`)
  }
  const comment = (pull: number): string =>
    world.stage.github
      .commentsOf('acme/dev-team', pull)
      .find(({ body }) => body.startsWith('<!-- bailiwick:applied -->'))?.body ?? ''
  const page = async (repo: string) => (await fetch(`${world.stage.site.url}/clusters/${repo}/staging`)).text()

  let merged = 0
  test('a merged change arrives without anybody calling the worker', async () => {
    const files = { 'base/kustomization.yaml': withBase('report'), 'base/report.yaml': deploymentFile('report') }
    merged = await merge('report', files)
    await world.comesTo(async () => (await liveStatus(world.cluster, REPORT)) === 200)
    await world.comesTo(() => applied('acme/dev-team')?.conclusion === 'success')
    await world.comesTo(() => comment(merged).includes('✅ **Applied: 1 Kustomization**'))
    expect(comment(merged)).toContain('- created `Deployment apps/report`')
  })

  test('what others change is put back, and told with who changed it and which fields', async () => {
    const contentType = 'application/merge-patch+json'
    const patch = { spec: { replicas: 7 } }
    await world.cluster.request('PATCH', `${REPORT}?fieldManager=kubectl-edit`, patch, { contentType })
    const line = '- `Deployment apps/report` of `staging/apps/dev-team`: `spec.replicas` by `kubectl-edit`'
    await world.comesTo(() => comment(merged).includes(line))
    expect(await page('acme/dev-team')).toContain('kubectl-edit')
  })

  test('what the API server refuses: at its line, with when it is tried again', async () => {
    await makeByHand(world.cluster, 'bad')
    const files = { 'base/kustomization.yaml': withBase('report', 'bad'), 'base/bad.yaml': deploymentFile('bad') }
    const pull = await merge('bad', files)
    await world.comesTo(() => comment(pull).includes('❌ **1 of 1 Kustomization failed**'))
    expect(comment(pull)).toMatch(/- refused `Deployment apps\/bad` at \[`base\/bad\.yaml:1`]\(\S+\): .*spec\.selector/)
    expect(comment(pull)).toContain('@dora: this Kustomization reads files that you changed here.')
    const row = /<tr>(?:(?!<\/tr>).)*staging\/apps\/dev-team.*?<\/tr>/s.exec(await page('acme/dev-team'))![0]
    // the last apply, and the next attempt
    expect(row.match(/<time /g)).toHaveLength(2)
    const files2 = { 'base/kustomization.yaml': withBase('report'), 'base/bad.yaml': '# none\n' }
    await merge('good', files2)
    await world.comesTo(() => applied('acme/dev-team')?.conclusion === 'success')
  })

  test('one of two replicas applies; the other goes on at once when that one ends', async () => {
    const first = await holder()
    workers.push(world.startWorker())
    await workers[0]!.close()
    await world.comesTo(async () => ![first, ''].includes(await holder()))
    await world.cluster.request('DELETE', STOREFRONT)
    await world.comesTo(async () => (await liveStatus(world.cluster, STOREFRONT)) === 200)
  })

  test('it holds no secret of the App: tokens for the content of its own sources, and nothing else', async () => {
    const work = await fetchWork(world.environment)
    const repositories = (jsonAt(work, 'repositories') as Json[]).map(one => stringAt(one, 'name'))
    expect(repositories.sort()).toEqual(['dev-team', 'fleet'])
    const { github } = world.stage
    const key = readFileSync(world.keyFile, 'utf8').trim()
    const answer = await fetch(`${world.environment.WEB_URL}/api/clusters/staging/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    const { tokens } = (await answer.json()) as { tokens: { token: string }[] }
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${github.url}${path}`, { ...init, headers: { authorization: `token ${tokens[0]!.token}` } })
    expect(tokens).toHaveLength(1)
    expect((await ask('/repos/acme/dev-team/git/ref/heads/main')).status).toBe(200)
    expect((await ask('/repos/acme/ops-team/git/ref/heads/main')).status).toBe(404)
    const sha = github.commitOf('acme/dev-team', 'main')
    const forged = { name: 'bailiwick / tenancy', head_sha: sha, conclusion: 'success', status: 'completed' }
    const checks = await ask('/repos/acme/dev-team/check-runs', { method: 'POST', body: JSON.stringify(forged) })
    expect(checks.status).toBe(403)
  })
})
