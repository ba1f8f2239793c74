import { afterEach, describe, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { propose, said } from '../story/said.ts'
import { type Stage, type StageOptions, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { openDev, withResource } from './red-together.ts'

const DEV = 'acme/dev-team'
const resources = { 'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml') }
const straying = { ...resources, 'staging/web.yaml': deploymentFile('web', 'kube-system') }

/** Another tenant of the fleet. */
const OTHER = `apiVersion: v1
kind: Namespace
metadata:
  name: vault
  labels:
    toolkit.fluxcd.io/tenant: secret-team
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: secret-team
  namespace: vault
spec:
  interval: 1m0s
  ref:
    branch: main
  url: https://github.com/acme/ops-team
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: secret-team
  namespace: vault
spec:
  interval: 1m0s
  path: ./
  prune: true
  sourceRef:
    kind: GitRepository
    name: secret-team
`

let stage: Stage
afterEach(() => stage?.close())

const kinds: readonly [string, StageOptions][] = [
  ['that the operator names', {}],
  ['that is pinned', { settings: { CLUSTERS_FILE: undefined, FLEETS: 'acme/fleet' } }],
]
describe.each(kinds)('with a fleet %s', (_, options) => {
  test('one pull request asks GitHub as much, however many other repositories were pushed to', async () => {
    stage = await startStage(options)
    await stage.settle()
    const { github } = stage
    const asked = async (name: string) => {
      const files = { ...resources, 'staging/web.yaml': deploymentFile(name, 'apps') }
      openDev(github, `warm-${name}`, { ...resources, 'staging/web.yaml': deploymentFile(`warm-${name}`, 'apps') })
      await stage.settle()
      github.forget()
      openDev(github, name, files)
      await stage.settle()
      expect(said(github, DEV, name)).toMatchObject({ conclusion: 'success' })
      return github.requests
        .map(({ method, path }) => `${method} ${path}`)
        .filter(one => !one.includes('access_tokens'))
    }
    const few = await asked('few')
    for (let index = 0; index < 60; index++) {
      github.addRepository({ owner: 'acme', name: `busy-${index}`, files: { 'clusters/x/y.yaml': 'x: 1\n' } })
    }
    const many = await asked('many')
    expect(many.filter(one => one.includes('/busy-'))).toEqual([])
    expect(many.length, many.join('\n')).toBeLessThanOrEqual(few.length)
  }, 90_000)
})

test("a clusters directory in a tenant's repository shows it nothing of others", async () => {
  stage = await startStage()
  await stage.settle()
  const { github } = stage
  github.push({ repo: 'acme/fleet', files: { 'clusters/staging/other.yaml': OTHER }, as: 'ada' })
  await stage.settle()
  const shown = async (branch: string) => {
    const run = await propose(stage, { repo: DEV, branch, files: straying })
    expect(run).toMatchObject({ name: CHECK_NAME, conclusion: 'failure' })
    const [pull] = github.pullRequestsOf(DEV).filter(one => one.head.ref === branch)
    const comments = github.commentsOf(DEV, pull!.issue.number).map(({ body }) => body)
    return JSON.stringify([run.output, run.annotations, comments])
  }
  const before = await shown('before')
  github.push({ repo: DEV, files: { 'clusters/staging/x.yaml': 'x: 1\n' }, as: 'ada' })
  await stage.settle()
  const after = await shown('after')
  for (const text of [before, after]) {
    expect(text).toContain('kube-system')
    expect(text).not.toContain('secret-team')
  }
  expect(after.match(/"title":"[^"]*"/)?.[0]).toBe(before.match(/"title":"[^"]*"/)?.[0])
}, 90_000)
