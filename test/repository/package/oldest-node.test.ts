import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { hasRedis } from '../../workers/queue/start-redis.ts'
import { liveStatus } from '../../workers/story/live.ts'
import { openProcesses, type Processes } from '../../workers/story/processes.ts'
import { deploymentFile } from '../../workers/story/tenant-changes.ts'
import { findProgram, programs } from '../runner/programs.ts'
import { built } from './built.ts'

const node = findProgram('node-22')
const missing =
  node === undefined
    ? `no node-22: ${programs['node-22'].get}`
    : hasRedis
      ? findAssets()
        ? undefined
        : NO_ASSETS
      : programs['redis-server'].get

describe.skipIf(missing)(`the bundle on the oldest Node of engines${missing ? ` (${missing})` : ''}`, () => {
  let app: Processes | undefined
  afterAll(() => app?.close())

  test('it is that Node', () => {
    expect(spawnSync(node!, ['--version'], { encoding: 'utf8' }).stdout).toBe('v22.18.0\n')
  })

  test('web process and worker evaluate a pull request, and apply what is merged', async () => {
    const { folder } = await built()
    app = await openProcesses({ commandOf: program => [node!, join(folder, `dist/${program}.js`)] })
    const { github } = app
    await app.start({})
    await app.settle()
    const repo = 'acme/dev-team'
    const kustomization = fleetFiles(repo)['base/kustomization.yaml']!
    const files = {
      'base/kustomization.yaml': kustomization.replace('  - widget.yaml\n', '  - widget.yaml\n  - report.yaml\n'),
      'base/report.yaml': deploymentFile('report'),
    }
    github.push({ repo, branch: 'report', parent: github.commitOf(repo, 'main'), files, as: 'dora' })
    const pull = github.openPullRequest({ repo, head: 'report', as: 'dora' }).issue.number
    await app.settle()
    const runOf = (ref: string, name: string) => github.checkRunsOf(repo, ref).findLast(one => one.name === name)
    expect(runOf('report', 'bailiwick / tenancy')).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(github.merge({ repo, pull, as: 'dora' })).toMatchObject({ status: 200 })
    await app.settle()
    expect(runOf('main', 'bailiwick / apply (staging)')).toMatchObject({ conclusion: 'success' })
    expect(await liveStatus(app.staging, '/apis/apps/v1/namespaces/apps/deployments/report')).toBe(200)
  }, 240_000)
})
