import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientOf, FLEET, NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

const CHECK = 'bailiwick / tenancy'

let env: Awaited<ReturnType<typeof hearing>>
beforeEach(async () => {
  env = await hearing()
  const checks = [{ context: CHECK, appId: env.github.app.id }]
  env.github.setProtection(NAME, { checks, mergeQueue: true, enforceAdmins: true })
})
afterEach(async () => {
  expect(await env.faults()).toEqual([])
  expect(env.github.responseViolations).toEqual([])
  await env.close()
})

const report = (head_sha: string, conclusion: 'success' | 'failure', client = env.app) =>
  client.rest.checks.create({ ...FLEET, name: CHECK, head_sha, conclusion })

/** A pull request whose check has passed. */
async function ready(branch: string, files: Record<string, string>) {
  const parent = env.github.commitOf(NAME, 'main')
  const { sha } = env.github.push({ repo: NAME, branch, files, as: 'dev', parent })
  const { number } = env.github.openPullRequest({ repo: NAME, head: branch, as: 'dev' }).issue
  await report(sha, 'success')
  return number
}

const events = async () => (await env.names()).filter(name => !name.startsWith('check_'))

test('a group is a branch on top of the base; it is merged when its own check passes', async () => {
  const number = await ready('one', { one: '1' })
  expect(env.github.merge({ repo: NAME, pull: number, as: 'ada' })).toMatchObject({ status: 405 })
  const main = env.github.commitOf(NAME, 'main')
  await env.hush()
  const { group } = env.github.enqueue(NAME, number, { as: 'dev' })
  expect(group).toMatchObject({ base: main, ref: `refs/heads/gh-readonly-queue/main/pr-${number}-${main}` })
  expect(await events()).toEqual(['pull_request.enqueued', 'push', 'merge_group.checks_requested'])
  const { merge_group, sender, installation } = await env.last('merge_group.checks_requested')
  expect(merge_group).toMatchObject({ head_sha: group?.head, base_sha: main, base_ref: 'refs/heads/main' })
  expect(sender.login).toBe('github-merge-queue[bot]')
  expect(installation.id).toBe(env.installation.id)
  expect(env.github.readFile(NAME, group!.head, 'one')).toBe('1')
  await env.hush()
  await report(group!.head, 'success')
  expect(await events()).toEqual([
    'push',
    'pull_request.dequeued',
    'pull_request.closed',
    'push',
    'merge_group.destroyed',
  ])
  expect((await env.last('merge_group.destroyed')).reason).toBe('merged')
  expect((await env.last('pull_request.closed')).pull_request).toMatchObject({
    merged: true,
    merge_commit_sha: group!.head,
  })
  expect(env.github.commitOf(NAME, 'main')).toBe(group!.head)
  expect(() => env.github.commitOf(NAME, `gh-readonly-queue/main/pr-${number}-${main}`)).toThrow()
})

test('the second stands on the first; when the first fails, it is built anew without it', async () => {
  const [one, two] = [await ready('one', { one: '1' }), await ready('two', { two: '2' })]
  const first = env.github.enqueue(NAME, one, { as: 'dev' })
  const second = env.github.enqueue(NAME, two, { as: 'dev' })
  expect(second.group?.base).toBe(first.group?.head)
  expect(env.github.filesOf(NAME, second.group!.head)).toContain('one')
  const stale = second.group!.head
  await report(stale, 'success')
  expect(env.github.queueOf(NAME)).toHaveLength(2)
  await env.hush()
  await report(first.group!.head, 'failure')
  const destroyed = (await env.heard()).filter(each => each.name === 'merge_group.destroyed')
  expect(destroyed.map(each => each.payload.reason)).toEqual(['dequeued', 'invalidated'])
  expect((await env.last('pull_request.dequeued')).reason).toBe('CI_FAILURE')
  expect(second.group?.head).not.toBe(stale)
  expect(env.github.filesOf(NAME, second.group!.head)).not.toContain('one')
  await report(second.group!.head, 'success')
  expect(env.github.queueOf(NAME)).toEqual([])
  expect(env.github.readFile(NAME, 'main', 'two')).toBe('2')
})

test('both pass: both are merged, in their order', async () => {
  const [one, two] = [await ready('one', { one: '1' }), await ready('two', { two: '2' })]
  const first = env.github.enqueue(NAME, one, { as: 'dev' })
  const second = env.github.enqueue(NAME, two, { as: 'dev' })
  const head = second.group!.head
  await report(head, 'success')
  await report(first.group!.head, 'success')
  expect(env.github.commitOf(NAME, 'main')).toBe(head)
  expect(env.github.pullRequestsOf(NAME).map(pull => pull.merged?.by.login)).toEqual(
    Array(2).fill('github-merge-queue[bot]'),
  )
})

test('a check of another app does not count', async () => {
  const number = await ready('one', { one: '1' })
  const { group } = env.github.enqueue(NAME, number, { as: 'dev' })
  const other = env.github.addApp({ slug: 'forger' })
  const theirs = clientOf(env.github, other, env.github.install(other, 'acme')) as typeof env.app
  await report(group!.head, 'success', theirs)
  expect(env.github.queueOf(NAME)).toHaveLength(1)
  env.github.timeOutQueue(NAME)
  expect((await env.last('pull_request.dequeued')).reason).toBe('CI_TIMEOUT')
})

test('a push to the pull request takes it out, one to the base builds the group anew', async () => {
  const [one, two] = [await ready('one', { one: '1' }), await ready('two', { two: '2' })]
  env.github.enqueue(NAME, one, { as: 'dev' })
  const second = env.github.enqueue(NAME, two, { as: 'dev' })
  env.github.push({ repo: NAME, branch: 'one', files: { one: '11' }, as: 'dev' })
  expect(env.github.queueOf(NAME)).toEqual([second])
  expect(second.group?.base).toBe(env.github.commitOf(NAME, 'main'))
  env.github.setProtection(NAME, { mergeQueue: true, checks: [{ context: CHECK }] })
  env.github.push({ repo: NAME, files: { 'c.txt': 'c' }, as: 'ada' })
  expect(second.group?.base).toBe(env.github.commitOf(NAME, 'main'))
  env.github.dequeue(NAME, two, { as: 'dev' })
  expect((await env.last('merge_group.destroyed')).reason).toBe('dequeued')
})

test('not into the queue: without the check, twice, in conflict, without a queue; nobody pushes to its branches', async () => {
  const one = await ready('one', { 'b.txt': 'one\n' })
  const two = await ready('two', { 'b.txt': 'two\n' })
  env.github.push({ repo: NAME, branch: 'three', files: { three: '3' }, as: 'dev' })
  const three = env.github.openPullRequest({ repo: NAME, head: 'three', as: 'dev' }).issue.number
  const enqueue = (number: number) => env.github.enqueue(NAME, number, { as: 'dev' })
  expect(() => enqueue(three)).toThrow(/is expected/)
  const { group } = enqueue(one)
  expect(() => enqueue(one)).toThrow(/already/)
  enqueue(two)
  expect((await env.last('pull_request.dequeued')).reason).toBe('MERGE_CONFLICT')
  expect(env.github.queueOf(NAME)).toHaveLength(1)
  const branch = group!.ref.slice('refs/heads/'.length)
  expect(() => env.github.push({ repo: NAME, branch, files: { x: '1' }, as: 'ada' })).toThrow(/read-only/)
  env.github.setProtection(NAME, {})
  expect(() => enqueue(three)).toThrow(/not enabled/)
})
