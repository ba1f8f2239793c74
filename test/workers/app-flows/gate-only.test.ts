import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMENT_MARKER } from '../../../src/report/comment.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, proposeViolation } from './commands.ts'
import { DEV } from './red-together.ts'
import { reportOf } from './survey.ts'

const FLEET = 'acme/fleet'
const ONBOARD = '/bailiwick onboard ops --repo https://github.com/acme/ops-team --namespace ops --cluster staging'

let stage: Stage
beforeAll(async () => {
  stage = await startStage({
    settings: { TRAIL: 'off' },
    prepare: ({ world }) => {
      for (const one of [...world.apps.values(), ...world.installations.values()])
        one.permissions = { ...one.permissions, contents: 'read' }
    },
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

test('a gate needs to read contents only: report, check, comment and decisions of people are there', async () => {
  const { github } = stage
  const pull = await proposeViolation(stage, 'red')
  expect(said(github, DEV, 'red')).toMatchObject({ conclusion: 'failure' })
  expect(github.commentsOf(DEV, pull).map(({ body }) => body)).toContainEqual(expect.stringContaining(COMMENT_MARKER))
  expect((await command(stage, { repo: DEV, issue: pull, as: 'dora', body: '/bailiwick hold' })).reactions).toEqual([
    '+1',
  ])
  const refused = github.requests.filter(({ status }) => status === 403)
  expect(refused.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  expect(github.world.repositories.size).toBeGreaterThan(0)
})

test('what would write to contents is refused, and the answer names the permission', async () => {
  const issue = reportOf(stage.github).number
  const { replies } = await command(stage, { repo: FLEET, issue, as: 'ada', body: ONBOARD })
  expect(replies).toEqual([expect.stringContaining('Grant the App `Contents: write`')])
})
