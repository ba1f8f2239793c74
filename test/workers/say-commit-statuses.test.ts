import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { publishCommitStatuses } from '../../workers/apply/publish-commit-statuses.ts'
import { StatusMemory } from '../../workers/apply/status-memory.ts'
import { acme, NAME } from '../github/acme.ts'

const URL = 'https://github.com/acme/fleet'
let env: Awaited<ReturnType<typeof acme>>
let commit: string
let now: number
let logged: string[]
let memory: { statuses: StatusMemory }
const start = async (statuses?: 'write') => {
  env = await acme({ app: { permissions: { contents: 'read', ...(statuses ? { statuses } : {}) } } })
  commit = env.github.commitOf(NAME, 'main')
}
beforeEach(async () => {
  now = 0
  logged = []
  memory = { statuses: new StatusMemory(() => now) }
  await start('write')
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
})

const key = (name: string) => `staging/flux-system/${name}`
const node = (name: string, more: Partial<AppliedNode> = {}): AppliedNode => ({
  ...{ key: key(name), user: 'somebody', outcome: 'applied', objects: [] },
  ...more,
})
/** What a run of the cluster says; `sources` in place of main of the fleet. */
const say = (applied: AppliedNode[], sources: Record<string, object> = {}, commitStatuses = true) => {
  const nodes = applied.flatMap(one => {
    const source = Object.hasOwn(sources, one.key) ? sources[one.key] : { url: URL, commit }
    return source ? [{ key: one.key, source }] : []
  })
  const warn = (_: object, text: string) => logged.push(text)
  const writer = {
    context: { bindings: [{ name: 'staging', commitStatuses }], log: { warn } },
    octokit: env.app,
    installation: {
      repositories: async () => [{ id: 1, url: URL, owner: 'acme', name: 'fleet' }],
      leadsTo: async () => undefined,
    },
    memory,
  }
  return publishCommitStatuses(writer as never, { cluster: 'staging', approved: { nodes }, applied } as never)
}
const written = () =>
  env.github.world.repositories.get(NAME)!.statuses.map(({ context, state }) => `${context.split('/')[1]} ${state}`)

test('one for each Kustomization on the commit that it reads, and again only when it changes', async () => {
  await say([node('a'), node('b', { outcome: 'failed', reason: 'no' })])
  expect(written()).toEqual(['b failure', 'a success'])
  await say([node('a'), node('b', { outcome: 'failed', reason: 'another' })])
  await say([node('a', { reason: 'its health checks still run' }), node('b')])
  expect(written()).toEqual(['b failure', 'a success', 'b success'])
  expect(env.github.counts()['GET /repos/{owner}/{repo}/commits/{ref}/statuses']).toBe(1)
})

test('a process that was started again says nothing twice', async () => {
  await say([node('a')])
  memory = { statuses: new StatusMemory() }
  await say([node('a')])
  expect(written()).toEqual(['a success'])
})

test('nothing is written unless the cluster asks for it', async () => {
  await say([node('a')], {}, false)
  expect(env.github.requests).toEqual([])
})

test('a repository gets statuses of nothing that is not its own', async () => {
  await say([node('gone'), node('lent'), node('artifact'), node('elsewhere'), node('own')], {
    [key('gone')]: undefined as never,
    [key('lent')]: { url: URL, commit, lent: true },
    [key('artifact')]: { url: 'oci://ghcr.io/acme/x' },
    [key('elsewhere')]: { url: 'https://github.com/other/repo', commit },
  })
  expect(written()).toEqual(['own success'])
})

test('at most 30 after a run and 200 an hour, failures first; later runs write the rest as it is then', async () => {
  const many = Array.from({ length: 240 }, (_, index) => node(`n${String(index).padStart(3, '0')}`))
  const all = [...many, node('bad', { outcome: 'failed', reason: 'no' })]
  await say(all)
  expect(written()).toHaveLength(30)
  expect(written()[0]).toBe('bad failure')
  for (let run = 0; run < 9; run++) await say(all)
  expect(written()).toHaveLength(200)
  now += 3_600_001
  for (let run = 0; run < 3; run++) await say([...many, node('bad')])
  expect(written()).toHaveLength(242)
})

test('without the permission: one line in the log, and nothing is asked again for an hour', async () => {
  await env.github.close()
  await start()
  await say([node('a'), node('b')])
  await say([node('a'), node('b')])
  expect(logged).toEqual([expect.stringContaining('Grant the App `statuses: write`')])
  const asked = () => env.github.requests.filter(({ path }) => path.includes('/statuses')).length
  const before = asked()
  now += 3_600_001
  await say([node('a')])
  expect(asked()).toBeGreaterThan(before)
})

test('while GitHub is not available nothing is logged or forgotten, and it is written after the next run', async () => {
  env.github.failNext(1, 502, {}, ({ method, path }) => method === 'POST' && path.includes('/statuses/'))
  await say([node('a')])
  expect([written(), logged]).toEqual([[], []])
  await say([node('a')])
  expect(written()).toEqual(['a success'])
})

test('a commit that GitHub does not take ends nothing else', async () => {
  const other = { url: URL, commit: '0'.repeat(40) }
  await say([node('a'), node('b')], { [key('a')]: other })
  expect(written()).toEqual(['b success'])
  expect(logged).toHaveLength(1)
})
