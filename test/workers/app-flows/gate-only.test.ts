import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMENT_MARKER } from '../../../src/report/comment.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command, proposeViolation } from './commands.ts'
import { DEV, withResource } from './red-together.ts'
import { reportOf, surveyAgain } from './survey.ts'

const FLEET = 'acme/fleet'
const ONBOARD = '/bailiwick onboard ops --repo https://github.com/acme/ops-team --namespace ops --cluster staging'

let stage: Stage
beforeAll(async () => {
  stage = await startStage({
    settings: { TRAIL: 'off' },
    prepare: ({ world }) => {
      for (const one of [...world.apps.values(), ...world.installations.values()])
        one.permissions = { ...one.permissions, contents: 'read' }
    },
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('a gate needs to read contents only: report, check, comment and decisions of people are there', async () => {
  const { github } = stage
  const pull = await proposeViolation(stage, 'red')
  expect(said(github, DEV, 'red')).toMatchObject({ conclusion: 'failure' })
  expect(github.commentsOf(DEV, pull).map(({ body }) => body)).toContainEqual(expect.stringContaining(COMMENT_MARKER))
  expect((await command(stage, { repo: DEV, issue: pull, as: 'dora', body: '/bailiwick hold' })).reactions).toEqual([
    '+1',
  ])
  const refused = github.requests.filter(({ status }) => status === 403)
  expect(refused.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  expect(github.world.repositories.size).toBeGreaterThan(0)
})

test('what would write to contents is refused, and the answer names the permission', async () => {
  const issue = reportOf(stage.github).number
  const { replies } = await command(stage, { repo: FLEET, issue, as: 'ada', body: ONBOARD })
  expect(replies).toEqual([expect.stringContaining('Grant the App `Contents: write`')])
  expect(replies[0]?.match(/Contents/g)).toHaveLength(1)
  // its change is a patch that git takes
  const patch = /```diff\n([\s\S]*?\n)```/.exec(replies[0] ?? '')?.[1] ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-gate-only-'))
  const { github } = stage
  for (const path of Object.keys(fleetFiles(FLEET))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), github.readFile(FLEET, 'main', path))
  }
  execFileSync('git', ['apply', '-'], { cwd: folder, input: patch })
  expect(readFileSync(join(folder, 'tenants/base/ops/sync.yaml'), 'utf8')).toContain('https://github.com/acme/ops-team')
  expect(readFileSync(join(folder, 'tenants/staging/kustomization.yaml'), 'utf8')).toContain('ops')
  rmSync(folder, { recursive: true })
})

test('the first report is there although the baseline cannot be offered, and says why', async () => {
  const { github } = stage
  const stray = {
    'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
    'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
  }
  github.push({ repo: DEV, files: stray, as: 'ada' })
  await surveyAgain(stage)
  expect(reportOf(github).body).toContain('Bailiwick cannot open that pull request: it lacks "Contents: write".')
})
