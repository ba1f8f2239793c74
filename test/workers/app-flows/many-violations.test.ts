import { afterAll, beforeAll, expect, test } from 'vitest'
import { countCalls } from '../../verdict/fix/count-calls.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('300 violations: one check, then one comment with the suggestions, and each edit is made once', async () => {
  const { github } = stage
  const names = Array.from({ length: 300 }, (_, at) => `web-${at}`)
  const files = {
    'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'many.yaml'),
    'staging/many.yaml': names.map(name => deploymentFile(name, 'kube-system')).join('---\n'),
  }
  github.forget()
  let pull = 0
  const [edits, searched] = await countCalls(['editText', 'visit'], async () => {
    pull = openDev(github, 'many', files)
    await stage.settle()
  })
  expect(said(github, DEV, 'many')).toMatchObject({
    conclusion: 'failure',
    output: { title: '300 violations in dev-team (staging)' },
  })
  expect(github.commentsOf(DEV, pull)).toHaveLength(1)
  const kinds = github.requests.map(({ method, route }) => `${method} ${route.replace('/repos/{owner}/{repo}', '')}`)
  const writes = kinds.filter(kind => !kind.startsWith('GET ') && !kind.includes('access_tokens'))
  // the second half of a hundred annotations, and on a slow machine how far the evaluation is
  const patched = 'PATCH /check-runs/{check_run_id}'
  expect(writes.filter(kind => kind !== patched)).toEqual([
    'POST /check-runs',
    'POST /issues/{issue_number}/comments',
    'POST /pulls/{pull_number}/reviews',
  ])
  const reads = kinds.filter(kind => kind.startsWith('GET '))
  expect(reads.length, kinds.join('\n')).toBeLessThanOrEqual(22)
  expect(writes.length, writes.join('\n')).toBeLessThanOrEqual(6)
  expect(edits).toBe(300)
  expect(searched, 'each in its own document').toBeLessThan(10_000)
}, 120_000)
