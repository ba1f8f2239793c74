import { afterAll, beforeAll, expect, test } from 'vitest'
import { propose } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'

const TEAM = 'acme/dev-team'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

interface Asked {
  readonly repository_ids?: readonly number[]
  readonly permissions?: Readonly<Record<string, string>>
}

test('what is judged is read with a token that may not write; what is said, with one of its repository alone', async () => {
  const { github } = stage
  await propose(stage, { repo: TEAM, branch: 'first', files: { 'README.md': '# First\n' } })
  const tokens = github.requests
    .filter(({ route }) => route.endsWith('/access_tokens'))
    .map(({ body }) => (body ?? {}) as Asked)
  const { id } = github.repositoryNamed(TEAM)
  const fleet = github.repositoryNamed('acme/fleet')
  const narrow = tokens.filter(({ repository_ids: ids }) => ids !== undefined)
  for (const { repository_ids: ids } of narrow) expect(ids).toHaveLength(1)
  expect(narrow.flatMap(({ repository_ids: ids }) => ids).sort()).toEqual([id, fleet.id].sort())
  const reading = tokens.filter(({ permissions }) => permissions !== undefined)
  expect(reading.length).toBe(1)
  for (const { permissions = {} } of reading) expect(new Set(Object.values(permissions))).toEqual(new Set(['read']))
  github.forget()
  await propose(stage, { repo: TEAM, branch: 'second', files: { 'README.md': '# Second\n' } })
  expect(
    github.requests.filter(({ route }) => route.endsWith('/access_tokens')),
    'none is asked for twice',
  ).toEqual([])
})
