import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { said } from './said.ts'
import { type Stage, startStage } from './stage.ts'
import { deploymentFile } from './tenant-changes.ts'

/** A fleet of nobody's clusters, in which dev-team's repository is a tenant of another namespace. */
const own = fleetFiles('acme/fleet')
const files = Object.fromEntries(
  Object.entries(own).map(([path, text]) => [
    path,
    text.replaceAll('https://github.com/acme/fleet', 'https://github.com/acme/evil').replaceAll('apps', 'jail'),
  ]),
)

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
  stage.github.addRepository({ owner: 'acme', name: 'evil', files, roles: { mallory: 'admin' } })
  const { id: appId } = stage.github.app
  stage.github.setProtection('acme/evil', { checks: [{ context: CHECK_NAME, appId }] })
}, 60_000)
afterAll(() => stage?.close())

test('a repository that looks like a fleet says nothing on the repositories of others', async () => {
  const { github } = stage
  const parent = github.commitOf('acme/dev-team', 'main')
  const file = 'base/kustomization.yaml'
  const change = {
    [file]: fleetFiles('acme/dev-team')[file]!.replace('resources:\n', 'resources:\n  - more.yaml\n'),
    'base/more.yaml': deploymentFile('more', 'apps'),
  }
  github.push({ repo: 'acme/dev-team', branch: 'more', parent, files: change, as: 'dora' })
  github.openPullRequest({ repo: 'acme/dev-team', head: 'more', as: 'dora' })
  await stage.settle()
  expect(said(github, 'acme/dev-team', 'more')).toMatchObject({ conclusion: 'success' })
})

test('and is shown nothing of them', async () => {
  const { github } = stage
  const parent = github.commitOf('acme/evil', 'main')
  github.push({ repo: 'acme/evil', branch: 'look', parent, files: { 'README.md': 'x' }, as: 'mallory' })
  github.openPullRequest({ repo: 'acme/evil', head: 'look', as: 'mallory' })
  await stage.settle()
  const { output } = said(github, 'acme/evil', 'look')
  expect(output.summary).not.toContain('storefront')
  expect(output.summary).toContain('the operator binds no cluster to this fleet')
})
