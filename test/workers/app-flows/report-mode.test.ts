import { afterAll, beforeAll, expect, test } from 'vitest'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const STRAY = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  stage.github.push({ repo: 'acme/fleet', files: { '.github/bailiwick.yaml': 'enforcement: report\n' }, as: 'ada' })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('nothing blocks, and the title says that it would', async () => {
  const { github } = stage
  const pull = openDev(github, 'stray', STRAY)
  await stage.settle()
  const run = said(github, DEV, 'stray')
  expect(run).toMatchObject({ conclusion: 'success' })
  expect(run.output.title).toMatch(/^Would block \(report mode\): 1 violation in dev-team \(staging\)/)
  expect(run.output.summary).toContain('1 reported violation (critical)')
  expect(run.annotations).toMatchObject([{ path: 'staging/stray.yaml', annotation_level: 'warning' }])
  expect(github.merge({ repo: DEV, pull, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
}, 60_000)

test('what cannot be decided still blocks: nobody could report on it', async () => {
  const { github } = stage
  openDev(github, 'broken', { 'base/service.yaml': 'kind: [\n' })
  await stage.settle()
  expect(said(github, DEV, 'broken')).toMatchObject({ conclusion: 'failure' })
  expect(said(github, DEV, 'broken').output.title).toMatch(/^Could not be evaluated: /)
}, 60_000)

test('back in mode block the same change is red', async () => {
  const { github } = stage
  github.push({ repo: 'acme/fleet', files: { '.github/bailiwick.yaml': 'enforcement: block\n' }, as: 'ada' })
  const more = { 'staging/stray.yaml': deploymentFile('other', 'kube-system') }
  openDev(github, 'again', more)
  await stage.settle()
  expect(said(github, DEV, 'again')).toMatchObject({ conclusion: 'failure' })
}, 60_000)
