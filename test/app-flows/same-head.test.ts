import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME, checkNameOf } from '../../src/gate/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'
import { followOnProduction } from './two-bases.ts'

const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}
const [MAIN, STABLE] = [checkNameOf('main'), checkNameOf('stable')]

let stage: Stage
let red: number
let green: number
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
  await followOnProduction(stage, 'stable')
  red = openDev(stage.github, 'shared', ESCAPE)
  await stage.settle()
  green = stage.github.openPullRequest({ repo: DEV, head: 'shared', base: 'stable', as: 'dora' }).issue.number
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('each base of a shared head has a check of its own; the plain name shows the worst verdict and says whose it is', () => {
  const { github } = stage
  expect(said(github, DEV, 'shared', MAIN)).toMatchObject({ conclusion: 'failure' })
  expect(said(github, DEV, 'shared', STABLE)).toMatchObject({ conclusion: 'success' })
  const run = said(github, DEV, 'shared')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.title).toMatch(/^1 violation: tenant dev-team on staging; in \d+ Kustomizations /)
  expect(run.output.title).toMatch(new RegExp(`\\(pull request #${red}\\)$`))
  expect(run.output.summary).toContain(`that of pull request #${red}`)
}, 60_000)

test('from whichever it is reached it is said once', async () => {
  const { github } = stage
  const before = github.checkRunsOf(DEV, 'shared').length
  github.comment({ repo: DEV, issue: green, as: 'dora', body: '/bailiwick check' })
  await stage.settle()
  expect(github.checkRunsOf(DEV, 'shared')).toHaveLength(before)
  expect(said(github, DEV, 'shared')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('when the worse one is closed its names count no more', async () => {
  const { github } = stage
  github.closePullRequest({ repo: DEV, pull: red, as: 'dora' })
  await stage.settle()
  const names = github.checkRunsOf(DEV, 'shared').map(({ name }) => name)
  expect(names).toContain(STABLE)
  for (const name of [MAIN, CHECK_NAME]) expect(names).not.toContain(name)
  expect(said(github, DEV, 'shared', STABLE)).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('who comes to share the head while a green verdict is written is not let pass by it', async () => {
  const { github } = stage
  const files = { ...ESCAPE, 'staging/stray.yaml': deploymentFile('late', 'kube-system') }
  github.push({ repo: DEV, branch: 'late', parent: github.commitOf(DEV, 'stable'), files, as: 'dora' })
  await stage.settle()
  let came = false
  github.failNext(1, 500, {}, ({ method, path }) => {
    if (!came && method === 'POST' && path === `/repos/${DEV}/check-runs`) {
      came = true
      github.openPullRequest({ repo: DEV, head: 'late', base: 'main', as: 'dora' })
    }
    return false
  })
  github.openPullRequest({ repo: DEV, head: 'late', base: 'stable', as: 'dora' })
  await stage.settle()
  expect(came).toBe(true)
  expect(said(github, DEV, 'late')).toMatchObject({ conclusion: 'failure' })
  expect(said(github, DEV, 'late', MAIN)).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('pull requests that share a head and are opened at once have one run of each name between them', async () => {
  const { github } = stage
  const parent = github.commitOf(DEV, 'main')
  github.push({ repo: DEV, branch: 'crowd', parent, files: { 'CROWD.md': '# Crowd\n' }, as: 'dora' })
  await stage.settle()
  for (const base of ['main', 'stable']) github.openPullRequest({ repo: DEV, head: 'crowd', base, as: 'dora' })
  await stage.settle()
  const names = github.checkRunsOf(DEV, 'crowd').map(({ name }) => name)
  expect(names.sort()).toEqual([CHECK_NAME, MAIN, STABLE].sort())
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
