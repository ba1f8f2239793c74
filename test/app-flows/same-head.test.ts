import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../src/report/check-run.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
let red: number
let green: number
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  github.pushRef({ repo: DEV, branch: 'scratch', sha: github.commitOf(DEV, 'main'), as: 'dora' })
  await stage.settle()
  red = openDev(github, 'shared', ESCAPE)
  await stage.settle()
  green = github.openPullRequest({ repo: DEV, head: 'shared', base: 'scratch', as: 'dora' }).issue.number
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('the run of a shared head shows the worst verdict and says whose it is', () => {
  const { github } = stage
  const run = said(github, DEV, 'shared')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.title).toBe(`1 violation: tenant dev-team on staging (pull request #${red})`)
  expect(run.output.summary).toContain(`that of pull request #${red}`)
  expect(github.merge({ repo: DEV, pull: green, as: 'dora' }).status, 'scratch is not gated').toBe(200)
}, 60_000)

test('from whichever it is reached it is said once; when the worse one is closed the other one counts alone', async () => {
  const { github } = stage
  github.pushRef({ repo: DEV, branch: 'side', sha: github.commitOf(DEV, 'main'), as: 'dora' })
  const side = github.openPullRequest({ repo: DEV, head: 'shared', base: 'side', as: 'dora' }).issue.number
  await stage.settle()
  const before = github.checkRunsOf(DEV, 'shared').filter(run => run.name === CHECK_NAME).length
  expect(said(github, DEV, 'shared')).toMatchObject({ conclusion: 'failure' })
  github.comment({ repo: DEV, issue: side, as: 'dora', body: '/bailiwick check' })
  await stage.settle()
  expect(github.checkRunsOf(DEV, 'shared').filter(run => run.name === CHECK_NAME)).toHaveLength(before)
  github.closePullRequest({ repo: DEV, pull: red, as: 'dora' })
  await stage.settle()
  expect(said(github, DEV, 'shared')).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('who comes to share the head while a green verdict is written is not let pass by it', async () => {
  const { github } = stage
  github.pushRef({ repo: DEV, branch: 'quiet', sha: github.commitOf(DEV, 'side'), as: 'dora' })
  const parent = github.commitOf(DEV, 'quiet')
  const files = { ...ESCAPE, 'staging/stray.yaml': deploymentFile('late', 'kube-system') }
  github.push({ repo: DEV, branch: 'late', parent, files, as: 'dora' })
  await stage.settle()
  let came = false
  github.failNext(1, 500, {}, ({ method, path }) => {
    if (!came && method === 'POST' && path === `/repos/${DEV}/check-runs`) {
      came = true
      github.openPullRequest({ repo: DEV, head: 'late', base: 'main', as: 'dora' })
    }
    return false
  })
  github.openPullRequest({ repo: DEV, head: 'late', base: 'quiet', as: 'dora' })
  await stage.settle()
  expect(came).toBe(true)
  expect(said(github, DEV, 'late')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a red commit of a followed branch is not made green by a pull request that touches nothing', async () => {
  const { github } = stage
  const { sha } = github.push({ repo: DEV, files: ESCAPE, as: 'ada' })
  await stage.settle()
  expect(said(github, DEV, sha)).toMatchObject({ conclusion: 'failure' })
  github.pushRef({ repo: DEV, branch: 'side2', sha: github.commitOf(DEV, 'side'), as: 'dora' })
  github.openPullRequest({ repo: DEV, head: 'main', base: 'side2', as: 'dora' })
  await stage.settle()
  expect(said(github, DEV, sha)).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('pull requests that share a head and are opened at once have one run between them', async () => {
  const { github } = stage
  const parent = github.commitOf(DEV, 'main')
  const bases = ['base-a', 'base-b', 'base-c', 'base-d']
  for (const branch of bases) github.pushRef({ repo: DEV, branch, sha: parent, as: 'dora' })
  github.push({ repo: DEV, branch: 'crowd', parent, files: { 'CROWD.md': '# Crowd\n' }, as: 'dora' })
  await stage.settle()
  for (const base of bases) github.openPullRequest({ repo: DEV, head: 'crowd', base, as: 'dora' })
  await stage.settle()
  const runs = github.checkRunsOf(DEV, 'crowd').filter(run => run.name === CHECK_NAME)
  expect(runs.map(({ output, conclusion }) => [conclusion, output.title])).toHaveLength(1)
}, 60_000)
