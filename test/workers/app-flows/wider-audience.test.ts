import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command } from './commands.ts'
import { outputsOf } from './outputs.ts'
import { addPrivate, CANARY, follower, source, urlOf, withManifest, withPlatformManifest } from './private-sources.ts'
import { DEV } from './red-together.ts'

const FLEET = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  addPrivate(stage.github, 'declared')
  stage.github.push({ repo: FLEET, files: withPlatformManifest(source('declared', urlOf('declared'))), as: 'ada' })
  await stage.settle()
  stage.github.forget()
}, 60_000)
afterAll(() => stage?.close())
afterEach(() => {
  for (const name of [DEV, FLEET]) stage.github.repositoryNamed(name).private = true
  stage.github.forget()
})

let number = 0

/** A pull request of Ada's, who may read everything, on a repository that everybody can see. */
async function propose(repo: string, files: Readonly<Record<string, string>>) {
  const { github } = stage
  const branch = `open-${++number}`
  const pull = github.propose({ repo, branch, files, as: 'ada' })
  await stage.settle()
  for (const body of ['/bailiwick diff', '/bailiwick status', '/bailiwick explain namespace-confinement']) {
    await command(stage, { repo, issue: pull, as: 'ada', body })
  }
  return { run: said(github, repo, branch), outputs: await outputsOf(stage, 'acme/declared') }
}

const FOLLOWS = withManifest(follower('declared'))

test('a public repository is not told what a private source says, and its pull request is red all the same', async () => {
  stage.github.repositoryNamed(DEV).private = false
  const { run, outputs } = await propose(DEV, FOLLOWS)
  expect(outputs).not.toContain(CANARY)
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run.output.summary).toContain('fewer people can see')
  expect(run.output.summary).toContain('namespace-confinement')
}, 60_000)

test('nor what an internal one says', async () => {
  stage.github.repositoryNamed(DEV).private = false
  const declared = stage.github.repositoryNamed('acme/declared')
  declared.internal = true
  const { run, outputs } = await propose(DEV, FOLLOWS)
  declared.internal = false
  expect(outputs).not.toContain(CANARY)
  expect(run.output.summary).toContain('fewer people can see')
}, 60_000)

test('a private one is', async () => {
  const { outputs } = await propose(DEV, FOLLOWS)
  expect(outputs).toContain(CANARY)
}, 60_000)

test('a public fleet is not told either: check, comment, page of the fleet, and first report', async () => {
  const { github } = stage
  github.repositoryNamed(FLEET).private = false
  const { run, outputs } = await propose(
    FLEET,
    withPlatformManifest(source('declared', urlOf('declared')) + follower('declared')),
  )
  expect(outputs).not.toContain(CANARY)
  expect(run).toMatchObject({ conclusion: 'failure' })
  github.push({
    repo: FLEET,
    files: withPlatformManifest(source('declared', urlOf('declared')) + follower('declared')),
    as: 'ada',
  })
  await stage.settle()
  const response = await fetch(`${stage.site.url}/fleets/acme/fleet`)
  expect(response.status).toBe(200)
  expect(`${await response.text()}${await outputsOf(stage, 'acme/declared')}`).not.toContain(CANARY)
  github.forget()
  await stage.restart()
  await stage.settle()
  expect(await outputsOf(stage, 'acme/declared')).not.toContain(CANARY)
}, 120_000)
