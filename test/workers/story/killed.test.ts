import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../../src/cluster/api-client.ts'
import { readInventories } from '../../../src/cluster/inventory.ts'
import { BRANCH_CHECK_NAME, CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import type { CheckRun } from '../../../tools/github/world.ts'
import { programs } from '../../repository/runner/programs.ts'
import { hasRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { batchFiles, batchObjects, liveObjects, stagingOverlay } from './batch.ts'
import { liveStatus } from './live.ts'
import { openProcesses, type Processes } from './processes.ts'
import { REPOSITORIES } from './stage.ts'
import { deploymentFile } from './tenant-changes.ts'

const missing = findAssets() ? (hasRedis ? undefined : programs['redis-server'].get) : NO_ASSETS
const TEAM = 'acme/dev-team'
const APPLY = 'bailiwick / apply (staging)'

describe.skipIf(missing)(`killed at any moment${missing ? ` (${missing})` : ''}`, () => {
  let app: Processes
  beforeAll(async () => {
    app = await openProcesses()
    await app.start()
    await app.settle()
  })
  afterAll(() => app?.close())

  const run = (ref: string, name: string): CheckRun | undefined =>
    app.github.checkRunsOf(TEAM, ref).findLast(one => one.name === name)

  /** A pull request with other objects, evaluated and merged. */
  async function mergeBatch(name: string): Promise<void> {
    const { github } = app
    const parent = github.commitOf(TEAM, 'main')
    github.push({ repo: TEAM, branch: name, parent, files: batchFiles(name), as: 'dora' })
    const pull = github.openPullRequest({ repo: TEAM, head: name, as: 'dora' }).issue.number
    await app.settle()
    expect(run(name, CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    expect(github.merge({ repo: TEAM, pull, as: 'dora' })).toMatchObject({ status: 200 })
  }

  const seen = async (name: string) => (await liveObjects(app.staging)).some(object => object.includes(name))

  /** Nothing is on the cluster but what was evaluated: before the restart some of it, afterwards all. */
  async function expectOnly(evaluated: readonly string[]): Promise<void> {
    expect((await liveObjects(app.staging)).filter(object => !evaluated.includes(object))).toEqual([])
  }

  async function expectApplied(name: string): Promise<void> {
    expect(await liveObjects(app.staging)).toEqual(batchObjects(name))
    expect(run('main', BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'success' })
    expect(run('main', APPLY)).toMatchObject({ conclusion: 'success' })
    const inventory = await inventoryOfTeam()
    expect(inventory.revision).toContain(app.github.commitOf(TEAM, 'main'))
    const recorded = inventory.entries.map(({ id }) => id).filter(id => /_(Deployment|ConfigMap)$/.test(id))
    expect(recorded).toHaveLength(batchObjects(name).length)
  }

  async function inventoryOfTeam() {
    const client = await connect(app.binding)
    try {
      const inventories = await readInventories(client)
      return inventories.find(inventory => inventory.node === 'staging/apps/dev-team')!
    } finally {
      client.close()
    }
  }

  let before = 'none'
  const random = seeded(20_261)
  const moments: [string, (name: string) => Promise<unknown>][] = [
    ['when the delivery was answered', () => app.github.idle()],
    ['while the push is judged', async () => untilAsked(app)],
    ['when the first object is there', name => until(() => seen(name))],
    ...Array.from({ length: 3 }, (): [string, () => Promise<unknown>] => {
      const delay = Math.floor(random() * 1_500)
      return [`${delay} ms after the merge`, () => sleep(delay)]
    }),
  ]
  test.each(moments)('every process is killed %s, Redis emptied: the judged objects are applied', async (_, moment) => {
    const name = `batch-${moments.findIndex(([, one]) => one === moment)}`
    await mergeBatch(name)
    await moment(name)
    await app.killAll()
    await app.redis.flush()
    await expectOnly([...batchObjects(before), ...batchObjects(name)])
    await app.start()
    await app.settle()
    await expectApplied(name)
    before = name
  })

  test('a violation is pushed while nothing runs: nothing of it is applied, and its commit says so', async () => {
    const { github } = app
    const was = await liveObjects(app.staging)
    await mergeBatch('batch-merged')
    await github.idle()
    await app.killAll()
    await app.redis.flush()
    const files = {
      'staging/kustomization.yaml': stagingOverlay(['batch.yaml', 'stray.yaml', 'extra.yaml']),
      'staging/stray.yaml': deploymentFile('stray', 'sandbox'),
      'staging/extra.yaml': deploymentFile('extra', 'apps'),
    }
    const { sha } = github.push({ repo: TEAM, files, as: 'ada' })
    await github.idle()
    await expectOnly([...was, ...batchObjects('batch-merged')])
    const left = await liveObjects(app.staging)
    await app.start()
    await app.settle()
    expect(await liveObjects(app.staging)).toEqual(left)
    expect(await liveStatus(app.staging, '/apis/apps/v1/namespaces/sandbox/deployments/stray')).toBe(404)
    expect(run(sha, BRANCH_CHECK_NAME)).toMatchObject({ conclusion: 'failure', status: 'completed' })
    expect(run(sha, APPLY)).toMatchObject({ conclusion: 'failure' })
    expect(run(sha, APPLY)!.output.summary).toContain('held')
    github.push({
      repo: TEAM,
      files: { 'staging/kustomization.yaml': stagingOverlay(['batch.yaml']) },
      remove: ['staging/stray.yaml', 'staging/extra.yaml'],
      as: 'ada',
    })
    await app.settle()
    await expectApplied('batch-merged')
  })

  test('the worker alone is killed in the middle of an apply: another one takes up its job', async () => {
    await mergeBatch('batch-taken')
    await until(() => seen('batch-taken'))
    await app.killWorker()
    await app.start()
    await app.settle()
    expect(app.worker.said()).toContain('job stalled because its worker stopped; it runs again')
    await expectApplied('batch-taken')
  })

  test('Redis is emptied under running processes: lost work is found, drift goes on being put back', async () => {
    const { github } = app
    await app.killAll()
    await app.start({ RESYNC_SECONDS: '2', SWEEP_SECONDS: '4' })
    app.worker.process.kill('SIGSTOP')
    const files = { 'staging/kustomization.yaml': stagingOverlay([]) }
    const { sha } = github.push({
      repo: TEAM,
      branch: 'lost',
      parent: github.commitOf(TEAM, 'main'),
      files,
      as: 'dora',
    })
    github.openPullRequest({ repo: TEAM, head: 'lost', as: 'dora' })
    await github.idle()
    await app.redis.flush()
    app.worker.process.kill('SIGCONT')
    await until(() => run(sha, CHECK_NAME)?.conclusion === 'success', 45_000)
    const path = '/apis/apps/v1/namespaces/apps/deployments/storefront'
    expect(await app.staging.request('DELETE', path)).toMatchObject({ status: 200 })
    await until(async () => (await liveStatus(app.staging, path)) === 200, 45_000)
  }, 100_000)

  test('no check is left pending, and every request was one that GitHub describes', () => {
    const runs = REPOSITORIES.flatMap(name => app.github.repositoryNamed(name).checkRuns)
    expect(runs.filter(({ status }) => status !== 'completed')).toEqual([])
    expect(app.github.violations).toEqual([])
    expect(app.github.unknown).toEqual([])
  })
})

/** Resolves when the worker asks GitHub something after the push was delivered: its job runs. */
async function untilAsked({ github }: Processes): Promise<void> {
  await github.idle()
  const before = github.requests.length
  await until(() => github.requests.length > before)
}

/** Mulberry32: the same delays in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
