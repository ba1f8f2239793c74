import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHECK_NAME, checkNameOf } from '../../../src/verdict/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'
import { followOnProduction } from './two-bases.ts'

const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}
const STABLE = checkNameOf('stable')

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

test('each base of a shared head has a check of its own, with its own verdict', () => {
  const { github } = stage
  const run = said(github, DEV, 'shared')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.title).toMatch(/^1 violation in dev-team \(staging\)/)
  expect(said(github, DEV, 'shared', STABLE)).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('from whichever it is reached it is said once', async () => {
  const { github } = stage
  const before = github.checkRunsOf(DEV, 'shared').length
  github.comment({ repo: DEV, issue: green, as: 'dora', body: '/bailiwick check' })
  await stage.settle()
  expect(github.checkRunsOf(DEV, 'shared')).toHaveLength(before)
  expect(said(github, DEV, 'shared')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('when one of them is closed its name counts no more', async () => {
  const { github } = stage
  github.closePullRequest({ repo: DEV, pull: red, as: 'dora' })
  await stage.settle()
  const names = github.checkRunsOf(DEV, 'shared').map(({ name }) => name)
  expect(names).toContain(STABLE)
  expect(names).not.toContain(CHECK_NAME)
  expect(said(github, DEV, 'shared', STABLE)).toMatchObject({ conclusion: 'success' })
}, 60_000)

describe('pull requests that share head and base', () => {
  let held: number

  test('have one check, with the most severe of their decisions, which says whose it is', async () => {
    const { github } = stage
    openDev(github, 'one', { 'ONE.md': '# One\n' })
    github.pushRef({ repo: DEV, branch: 'twin', sha: github.commitOf(DEV, 'one'), as: 'dora' })
    held = github.openPullRequest({ repo: DEV, head: 'twin', as: 'dora' }).issue.number
    await stage.settle()
    expect(said(github, DEV, 'one')).toMatchObject({ conclusion: 'success' })
    github.label({ repo: DEV, issue: held, label: 'bailiwick/hold', as: 'dora' })
    await stage.settle()
    const run = said(github, DEV, 'one')
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.summary).toContain(`that of pull request #${held}`)
  }, 60_000)

  test('when the one that blocks is closed, the other passes', async () => {
    const { github } = stage
    github.closePullRequest({ repo: DEV, pull: held, as: 'dora' })
    await stage.settle()
    expect(said(github, DEV, 'one')).toMatchObject({ conclusion: 'success' })
  }, 60_000)

  test('who comes to share them while a green verdict is written is not let pass by it', async () => {
    const { github } = stage
    let came = false
    github.failNext(1, 500, {}, ({ method, path }) => {
      if (!came && method === 'POST' && path === `/repos/${DEV}/check-runs`) {
        came = true
        github.pushRef({ repo: DEV, branch: 'later', sha: github.commitOf(DEV, 'late'), as: 'dora' })
        const { number } = github.openPullRequest({ repo: DEV, head: 'later', as: 'dora' }).issue
        github.label({ repo: DEV, issue: number, label: 'bailiwick/hold', as: 'dora' })
      }
      return false
    })
    openDev(github, 'late', { 'LATE.md': '# Late\n' })
    await stage.settle()
    expect(came).toBe(true)
    expect(said(github, DEV, 'late')).toMatchObject({ conclusion: 'failure' })
  }, 60_000)
})

test('pull requests that share a head and are opened at once have one run of each name between them', async () => {
  const { github } = stage
  const parent = github.commitOf(DEV, 'main')
  github.push({ repo: DEV, branch: 'crowd', parent, files: { 'CROWD.md': '# Crowd\n' }, as: 'dora' })
  await stage.settle()
  for (const base of ['main', 'stable']) github.openPullRequest({ repo: DEV, head: 'crowd', base, as: 'dora' })
  await stage.settle()
  const names = github.checkRunsOf(DEV, 'crowd').map(({ name }) => name)
  expect(names.sort()).toEqual([CHECK_NAME, STABLE])
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
