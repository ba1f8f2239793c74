import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { propose, said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { withResource } from './red-together.ts'

const FLEET = 'acme/fleet'
const TEAM = 'acme/dev-team'
const SHOP = 'acme/shop'
const config = (id: number, name = TEAM) =>
  `tenants:\n  - name: dev-team\n    repositories:\n      - url: https://github.com/${name}\n        id: ${id}\n`

let stage: Stage
let asked = 0
const straying = () => ({
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', `p${++asked}.yaml`),
  [`staging/p${asked}.yaml`]: deploymentFile(`p${asked}`, 'kube-system'),
})
const clean = () => ({
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', `p${++asked}.yaml`),
  [`staging/p${asked}.yaml`]: deploymentFile(`p${asked}`, 'apps'),
})
const hostile = (repo: string) => propose(stage, { repo, branch: `hostile-${asked}`, files: straying() })
const harmless = (repo: string) => propose(stage, { repo, branch: `harmless-${asked}`, files: clean() })
const start = async () => {
  stage = await startStage()
  await stage.settle()
}

describe('a repository that was renamed', () => {
  beforeAll(async () => {
    await start()
    stage.github.rename(TEAM, 'shop')
    await stage.settle()
  }, 60_000)
  afterAll(() => stage?.close())

  test('is deployed from as before, so its pull requests are evaluated as before', async () => {
    const run = await hostile(SHOP)
    expect(run).toMatchObject({ conclusion: 'failure' })
    expect(run.output.summary).toContain('namespace-confinement')
    expect(run.annotations, 'at lines of its own').toMatchObject([{ path: `staging/p${asked}.yaml` }])
    expect(await harmless(SHOP)).toMatchObject({ conclusion: 'success' })
    expect(said(stage.github, SHOP, `harmless-${asked - 1}`).output.summary).not.toContain('No fleet')
  }, 60_000)

  test('is told as its tenant, and no more', async () => {
    const run = await hostile(SHOP)
    expect(JSON.stringify(run.output)).not.toContain('ops-team')
  }, 60_000)

  test('a change of the fleet is compared with what it holds', async () => {
    const file = 'tenants/staging/dev-team-patch.yaml'
    const text = fleetFiles(FLEET)[file]!.replace('./staging', './nowhere')
    const run = await propose(stage, { repo: FLEET, branch: 'path', files: { [file]: text } })
    expect(run).toMatchObject({ conclusion: 'failure', output: { summary: expect.stringContaining('path-not-found') } })
    expect(await propose(stage, { repo: FLEET, branch: 'docs', files: { 'docs.md': 'x\n' } })).toMatchObject({
      conclusion: 'success',
    })
  }, 60_000)

  test('a push to the fleet has its pull requests evaluated again', async () => {
    const { github } = stage
    const branch = `hostile-${asked}`
    expect(await hostile(SHOP)).toMatchObject({ conclusion: 'failure' })
    const file = 'tenants/staging/dev-team-patch.yaml'
    const text = fleetFiles(FLEET)[file]!.replace('./staging', './production')
    github.push({ repo: FLEET, files: { [file]: text }, as: 'ada' })
    await stage.settle()
    expect(said(github, SHOP, branch), 'nothing of it is deployed any more').toMatchObject({ conclusion: 'success' })
  }, 60_000)
})

describe('with its id pinned', () => {
  beforeEach(async () => {
    await start()
    const { id } = stage.github.repositoryNamed(TEAM)
    stage.github.push({ repo: FLEET, files: { '.github/bailiwick.yaml': config(id) }, as: 'ada' })
    await stage.settle()
    stage.github.rename(TEAM, 'shop')
    await stage.settle()
    return () => stage.close()
  }, 60_000)

  test('it is found by the redirect, and by its id where nothing leads there any more', async () => {
    expect(await hostile(SHOP)).toMatchObject({
      conclusion: 'failure',
      output: { summary: expect.stringContaining('namespace-confinement') },
    })
    expect(await harmless(SHOP)).toMatchObject({ conclusion: 'success' })
    stage.github.world.moved.clear()
    await stage.restart()
    await stage.settle()
    expect(await hostile(SHOP)).toMatchObject({
      conclusion: 'failure',
      output: { summary: expect.stringContaining('namespace-confinement') },
    })
    expect(await harmless(SHOP)).toMatchObject({ conclusion: 'success' })
  }, 90_000)

  test('where another one takes the name both are refused, and nobody else', async () => {
    const { github } = stage
    const roles = { mallory: 'admin', ada: 'write' } as const
    github.createRepository({ owner: 'acme', name: 'dev-team', files: fleetFiles(TEAM), roles })
    github.setProtection(TEAM, { checks: [{ context: CHECK_NAME, appId: github.app.id }] })
    await stage.settle()
    const impostor = await harmless(TEAM)
    expect(impostor).toMatchObject({
      conclusion: 'failure',
      output: { summary: expect.stringContaining('source-repo-identity') },
    })
    const meant = await harmless(SHOP)
    expect(meant).toMatchObject({
      conclusion: 'failure',
      output: { summary: expect.stringContaining('now belongs to another repository') },
    })
    expect(await propose(stage, { repo: FLEET, branch: 'docs', files: { 'docs.md': 'x\n' } })).toMatchObject({
      conclusion: 'success',
    })
    expect(await propose(stage, { repo: 'acme/ops-team', branch: 'docs', files: { 'docs.md': 'x\n' } })).toMatchObject({
      conclusion: 'success',
    })
  }, 90_000)

  test('the fleet follows it under its new name: nothing is refused any more', async () => {
    const { github } = stage
    const file = 'tenants/base/dev-team/sync.yaml'
    const text = fleetFiles(FLEET)[file]!.replaceAll(TEAM, SHOP)
    const { id } = github.repositoryNamed(SHOP)
    const files = { [file]: text, '.github/bailiwick.yaml': config(id, SHOP) }
    github.push({ repo: FLEET, files, as: 'ada' })
    await stage.settle()
    expect(await hostile(SHOP)).toMatchObject({ conclusion: 'failure' })
    expect(await harmless(SHOP)).toMatchObject({ conclusion: 'success' })
  }, 90_000)
})
