import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, clientOf, FLEET, NAME } from './acme.ts'

let env: Awaited<ReturnType<typeof acme>>
let sha: string
beforeEach(async () => {
  env = await acme({ app: { permissions: { statuses: 'write' } } })
  sha = env.github.commitOf(NAME, 'main')
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
})

const ready = { context: 'kustomization/apps/12345678', state: 'success' as const, description: 'x'.repeat(140) }

test('a status comes back as it was written, the latest first', async () => {
  const { repos } = env.app.rest
  const made = await repos.createCommitStatus({ ...FLEET, sha, ...ready })
  expect(made.data).toMatchObject({ ...ready, target_url: null, creator: { login: 'bailiwick[bot]' } })
  await repos.createCommitStatus({ ...FLEET, sha, ...ready, state: 'failure' })
  const { data } = await repos.listCommitStatusesForRef({ ...FLEET, ref: 'main' })
  expect(data.map(({ state }) => state)).toEqual(['failure', 'success'])
})

test.each([
  ['description', { description: 'x'.repeat(141) }],
  ['context', { context: 'x'.repeat(256) }],
  ['state', { state: 'neutral' as never }],
  ['commit', { sha: '0'.repeat(40) }],
])('a status is refused for its %s', async (_, more) => {
  const wanted = { ...FLEET, sha, ...ready, ...more }
  await expect(env.app.rest.repos.createCommitStatus(wanted)).rejects.toMatchObject({ status: 422 })
})

test('a context takes 1,000 statuses of a commit', async () => {
  const { repos } = env.app.rest
  for (let count = 0; count < 1000; count++) await repos.createCommitStatus({ ...FLEET, sha, ...ready })
  const wanted = { ...FLEET, sha, ...ready, context: ready.context.toUpperCase() }
  await expect(repos.createCommitStatus(wanted)).rejects.toMatchObject({ status: 422 })
  await repos.createCommitStatus({ ...wanted, context: 'another' })
}, 60_000)

test('without the permission nothing is read or written', async () => {
  const other = env.github.addApp({ slug: 'other', permissions: { contents: 'write', checks: 'write' } })
  env.github.world.repositories.get(NAME)!.private = true
  const { repos } = clientOf(env.github, other, env.github.install(other, 'acme')).rest
  await expect(repos.createCommitStatus({ ...FLEET, sha, ...ready })).rejects.toMatchObject({ status: 403 })
  await expect(repos.listCommitStatusesForRef({ ...FLEET, ref: sha })).rejects.toMatchObject({ status: 403 })
})
