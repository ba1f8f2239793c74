import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME, checkNameOf } from '../../../src/verdict/check-names.ts'
import type { Repository } from '../../../tools/github/world.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { propose, said, saidOfTip } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'

const TEAM = 'acme/dev-team'
const FLEET = 'acme/fleet'
const MOVED = 'acme/shop'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const { id } = stage.github.repositoryNamed(TEAM)
  const text = `tenants:\n  - name: dev-team\n    repositories:\n      - url: https://github.com/${TEAM}\n        id: ${id}\n`
  stage.github.push({ repo: FLEET, files: { '.github/bailiwick.yaml': text }, as: 'ada' })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** Gives a repository another name, as its settings page does; the event is the caller's. */
function rename(from: string, to: string): Repository {
  const { world, repositoryNamed } = stage.github
  const repository = repositoryNamed(from)
  world.repositories.delete(from)
  Object.assign(repository, { name: to.split('/')[1] })
  world.repositories.set(to, repository)
  return repository
}

/** What GitHub sends of a repository to the App. */
function announce(name: string, action: string, changes: object = {}): void {
  const { github } = stage
  const repository = github.repositoryNamed(name)
  github.world.emit(repository, github.userNamed('ada'), 'repository', { action, changes })
}

test('while the pinned repository has its name, its pull requests pass', async () => {
  const run = await propose(stage, { repo: TEAM, branch: 'before', files: { 'README.md': '# Before\n' } })
  expect(run).toMatchObject({ conclusion: 'success' })
  expect(saidOfTip(stage.github, FLEET)).toMatchObject({ conclusion: 'success' })
})

test('after a rename another repository takes the name: nothing of it is believed, though its files are the same', async () => {
  const { github } = stage
  rename(TEAM, MOVED)
  announce(MOVED, 'renamed', { repository: { name: { from: 'dev-team' } } })
  await stage.settle()
  const roles = { mallory: 'admin', ada: 'write' } as const
  github.addRepository({ owner: 'acme', name: 'dev-team', files: fleetFiles(TEAM), roles })
  announce(TEAM, 'created')
  const files = { 'README.md': '# Mine now\n' }
  const run = await propose(stage, { repo: TEAM, branch: 'impostor', files })
  expect(run).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(run.output.summary).toContain('source-repo-identity')
  expect(run.output.summary).toContain('another repository')
  github.push({ repo: TEAM, files, as: 'mallory' })
  await stage.settle()
  expect(saidOfTip(github, TEAM)).toMatchObject({ conclusion: 'failure' })
  const beside = await propose(stage, { repo: FLEET, branch: 'beside', files: { 'docs.md': 'Nothing.\n' } })
  expect(beside, 'nobody else is held back').toMatchObject({ conclusion: 'success' })
})

test('where the name comes back to the pinned repository, it is believed again', async () => {
  rename(TEAM, 'acme/impostor')
  rename(MOVED, TEAM)
  announce(TEAM, 'renamed', { repository: { name: { from: 'shop' } } })
  await stage.settle()
  const run = await propose(stage, { repo: TEAM, branch: 'back', files: { 'README.md': '# Back\n' } })
  expect(run).toMatchObject({ conclusion: 'success' })
})

test('another default branch: open pull requests onto it, and it, are judged', async () => {
  const { github } = stage
  const repository = github.repositoryNamed(TEAM)
  github.pushRef({ repo: TEAM, branch: 'trunk', sha: github.commitOf(TEAM, 'main'), as: 'ada' })
  await stage.settle()
  const { webhookUrl } = github.app
  github.app.webhookUrl = undefined
  github.propose({ repo: TEAM, branch: 'late', base: 'trunk', files: { a: 'a\n' }, as: 'ada' })
  const requiring = (branch: string, context: string) =>
    github.setProtection(TEAM, { branch, checks: [{ context, appId: github.app.id }] })
  requiring('trunk', CHECK_NAME)
  requiring('main', checkNameOf('main'))
  github.app.webhookUrl = webhookUrl
  Object.assign(repository, { defaultBranch: 'trunk' })
  announce(TEAM, 'edited', { default_branch: { from: 'main' } })
  await stage.settle()
  expect(said(github, TEAM, 'late')).toMatchObject({ status: 'completed', conclusion: 'success' })
})
