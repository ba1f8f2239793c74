import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMENT_MARKER } from '../../../src/report/comment.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const violating = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'web.yaml'),
  'staging/web.yaml': deploymentFile('web', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
})
afterAll(() => stage?.close())

const ours = (pull: number) => stage.github.commentsOf(DEV, pull).filter(({ body }) => body.startsWith(COMMENT_MARKER))

async function askForComment(pull: number): Promise<void> {
  const installation = [...stage.github.world.installations.values()][0]!.id
  await stage.site.queue.add('post-on-pull-request', { installation, owner: 'acme', repo: 'dev-team', pull })
  await stage.settle()
}

test('the comment of a pull request that nobody remembers is made from what stands', async () => {
  const { github } = stage
  const pull = openDev(github, 'lost', violating)
  await stage.settle()
  const [before] = ours(pull)
  github.deleteComment({ repo: DEV, comment: before!.id, as: 'ada' })
  await stage.restart() // what was to be said went with the process
  await askForComment(pull)
  expect(ours(pull)).toMatchObject([{ body: before!.body }])
}, 60_000)

test('nothing is written on a pull request that was closed meanwhile', async () => {
  const { github } = stage
  const pull = openDev(github, 'closed', violating)
  await stage.settle()
  github.deleteComment({ repo: DEV, comment: ours(pull)[0]!.id, as: 'ada' })
  github.closePullRequest({ repo: DEV, pull, as: 'dora' })
  await stage.settle()
  await askForComment(pull)
  expect(ours(pull)).toEqual([])
}, 60_000)
