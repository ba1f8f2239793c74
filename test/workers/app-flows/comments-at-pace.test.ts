import { afterAll, beforeAll, expect, test } from 'vitest'
import { GITHUB_PACE } from '../../../src/github/client/client-class.ts'
import { COMMENT_MARKER } from '../../../src/report/comment.ts'
import { until } from '../queue/until.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { lastRun } from './commands.ts'
import { DEV, openDev, withResource } from './red-together.ts'

/** More than are evaluated at once. */
const MANY = 6

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ pace: GITHUB_PACE })
  await stage.settle()
}, 120_000)
afterAll(() => stage?.close())

const violating = (name: string) => ({
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml'),
  'staging/web.yaml': deploymentFile(name, 'kube-system'),
})

test('at the pace that GitHub asks for every check is written before the first comment is, and an answer before the others', async () => {
  const { github } = stage
  const release = github.hold(({ method, path }) => method === 'POST' && /\/issues\/\d+\/comments$/.test(path))
  const branches = Array.from({ length: MANY }, (_, at) => `many-${at}`)
  const pulls = branches.map(branch => openDev(github, branch, violating(branch)))
  const completed = () => branches.filter(branch => lastRun(github, DEV, branch)?.conclusion === 'failure')
  await until(() => completed().length === MANY, 90_000)
  const comments = () => pulls.flatMap(pull => github.commentsOf(DEV, pull)).map(({ body }) => body)
  const ours = () => comments().filter(body => body.startsWith(COMMENT_MARKER))
  release()
  // who asks something meanwhile is answered before the comments that nobody asked for
  github.comment({ repo: DEV, issue: pulls.at(-1)!, as: 'dora', body: '/bailiwick status' })
  await until(() => comments().some(body => body.startsWith('<!-- bailiwick:reply:')), 60_000)
  expect(ours().length).toBeLessThanOrEqual(2)
  await until(() => ours().length > 1, 60_000)
  expect(completed()).toHaveLength(MANY)
}, 180_000)
