import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun, proposed } from './commands.ts'

const FLEET = 'acme/fleet'
/** A repository of the platform that is not the fleet's own: its cluster follows it as it follows the fleet. */
const INFRA = 'acme/infra'

const FOLLOWED = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: infra, namespace: flux-system}
spec: {interval: 1m, url: "https://github.com/${INFRA}", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec:
  serviceAccountName: kustomize-controller
  interval: 5m
  prune: true
  path: ./
  sourceRef: {kind: GitRepository, name: infra}
`
const config = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: infra, namespace: flux-system}\ndata: {value: ${value}}\n`
const edge = (kubeConfig: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: edge, namespace: flux-system}
spec:
  serviceAccountName: kustomize-controller
  kubeConfig: {secretRef: {name: ${kubeConfig}}}
  interval: 5m
  prune: true
  path: ./infrastructure
  sourceRef: {kind: GitRepository, name: flux-system}
`

let stage: Stage
beforeAll(async () => {
  stage = await startStage({
    prepare: github => {
      // dora decides in this repository, and not in the fleet
      const roles = { dora: 'admin', otto: 'write', ada: 'read' } as const
      github.addRepository({ owner: 'acme', name: 'infra', files: { 'config.yaml': config('a') }, roles })
      github.push({ repo: FLEET, files: { 'clusters/staging/platform.yaml': FOLLOWED }, as: 'ada' })
    },
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const propose = (branch: string, files: Record<string, string>) =>
  proposed(stage, { repo: INFRA, branch, files, as: 'otto' })

async function approve(pull: number, as: string): Promise<void> {
  stage.github.review({ repo: INFRA, pull, state: 'APPROVED', as })
  await stage.settle()
}

const runOf = (branch: string) => lastRun(stage.github, INFRA, branch)

test('a kubeconfig that a repository of the platform brings waits for an admin of the fleet', async () => {
  const pull = await propose('edge', { 'edge.yaml': edge('edge') })
  expect(runOf('edge')).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(runOf('edge')?.output.title).toBe('Approval required: a fleet admin must approve this commit')
  expect(runOf('edge')?.output.summary).toMatch(/Kustomization .*would act by the kubeconfig of Secret/)
  for (const other of ['mallory', 'dora']) {
    await approve(pull, other)
    expect(runOf('edge')?.conclusion, other).toBe('failure')
  }
  await approve(pull, 'ada')
  expect(runOf('edge')).toMatchObject({ conclusion: 'success' })
  stage.github.push({ repo: INFRA, branch: 'edge', files: { 'edge.yaml': edge('other') }, as: 'otto' })
  await stage.settle()
  expect(runOf('edge')?.conclusion).toBe('failure')
  await approve(pull, 'ada')
  expect(stage.github.merge({ repo: INFRA, pull, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
}, 60_000)

test('once it is merged it asks nobody, and another one does', async () => {
  await propose('beside', { 'config.yaml': config('b') })
  expect(runOf('beside')).toMatchObject({ conclusion: 'success' })
  await propose('changed', { 'edge.yaml': edge('third') })
  expect(runOf('changed')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a change of that repository that brings nothing of it passes by itself', async () => {
  await propose('plain', { 'config.yaml': config('c'), 'README.md': 'infra\n' })
  expect(runOf('plain')).toMatchObject({ conclusion: 'success' })
  expect(runOf('plain')?.output.title).toMatch(/^Passed/)
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
