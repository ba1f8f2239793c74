import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acme, FLEET, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme({ mergeabilityDelayMs: 150 })
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.github.close()
})

/** Opens a pull request of a new branch that stands on the present main. */
function propose(branch: string, files: Record<string, string>, base = env.github.commitOf(NAME, 'main')) {
  env.github.push({ repo: NAME, branch, files, as: 'dev', parent: base })
  return env.github.openPullRequest({ repo: NAME, head: branch, as: 'dev' }).issue.number
}

const get = async (pull_number: number) => (await env.app.rest.pulls.get({ ...FLEET, pull_number })).data
const merge = (pull_number: number, more = {}) => env.app.rest.pulls.merge({ ...FLEET, pull_number, ...more })

test('two pull requests that touch different files, and different lines of one, are all kept', async () => {
  const main = env.github.commitOf(NAME, 'main')
  const numbers = [
    propose('one', { 'b.txt': 'B\n' }, main),
    propose('two', { 'a.txt': 'ONE\n2\n3\n4\n5\n' }, main),
    propose('three', { 'a.txt': '1\n2\n3\n4\nFIVE\n' }, main),
  ]
  for (const number of numbers) expect((await merge(number)).data.merged).toBe(true)
  expect(env.github.readFile(NAME, 'main', 'b.txt')).toBe('B\n')
  expect(env.github.readFile(NAME, 'main', 'a.txt')).toBe('ONE\n2\n3\n4\nFIVE\n')
  const { data } = await env.app.rest.repos.getCommit({ ...FLEET, ref: 'main' })
  expect(data.parents).toHaveLength(2)
  expect(data.sha).toBe((await get(numbers[2]!)).merge_commit_sha)
})

test('the same line changed by two is a conflict: mergeable becomes false and merging is 405', async () => {
  const main = env.github.commitOf(NAME, 'main')
  const first = propose('one', { 'a.txt': '1\n2\nx\n4\n5\n' }, main)
  const second = propose('two', { 'a.txt': '1\n2\ny\n4\n5\n' }, main)
  await vi.waitFor(async () => expect((await get(second)).mergeable).toBe(true))
  await merge(first)
  expect((await get(second)).mergeable).toBeNull()
  await vi.waitFor(async () => expect((await get(second)).mergeable).toBe(false))
  expect((await get(second)).merge_commit_sha).toBeNull()
  await expect(merge(second)).rejects.toMatchObject({ status: 405 })
})

test('a file deleted by one and changed by another is a conflict', async () => {
  const main = env.github.commitOf(NAME, 'main')
  const changed = propose('change', { 'b.txt': 'B\n' }, main)
  env.github.push({ repo: NAME, branch: 'delete', remove: ['b.txt'], as: 'dev', parent: main })
  const deleted = env.github.openPullRequest({ repo: NAME, head: 'delete', as: 'dev' }).issue.number
  await merge(changed)
  expect(env.github.pullRequest(NAME, deleted).mergeable).toBe(false)
})

test('a pull request follows its branch, and is merged as it stands then', async () => {
  const number = propose('topic', { 'b.txt': 'first\n' })
  const before = (await get(number)).head.sha
  env.github.push({ repo: NAME, branch: 'topic', files: { 'b.txt': 'second\n' }, as: 'dev' })
  const after = await get(number)
  expect(after.head.sha).not.toBe(before)
  expect(after.head.sha).toBe(env.github.commitOf(NAME, `refs/pull/${number}/head`))
  await expect(merge(number, { sha: before })).rejects.toMatchObject({ status: 409 })
  await merge(number, { sha: after.head.sha })
  expect(env.github.readFile(NAME, 'main', 'b.txt')).toBe('second\n')
})

test('the test merge is made again when the base moves, and holds both sides', async () => {
  const number = propose('topic', { 'b.txt': 'topic\n' })
  await vi.waitFor(async () => expect((await get(number)).mergeable).toBe(true))
  const first = (await get(number)).merge_commit_sha
  env.github.push({ repo: NAME, files: { 'new.txt': 'main\n' }, as: 'ada' })
  const moved = await get(number)
  expect(moved).toMatchObject({
    mergeable: null,
    merge_commit_sha: first,
    base: { sha: env.github.commitOf(NAME, 'main') },
  })
  await vi.waitFor(async () => expect((await get(number)).mergeable).toBe(true))
  const { merge_commit_sha } = await get(number)
  expect(merge_commit_sha).not.toBe(first)
  const { data: ref } = await env.app.rest.git.getRef({ ...FLEET, ref: `pull/${number}/merge` })
  expect(ref.object.sha).toBe(merge_commit_sha)
  expect(env.github.filesOf(NAME, merge_commit_sha!)).toContain('new.txt')
  expect(env.github.readFile(NAME, merge_commit_sha!, 'b.txt')).toBe('topic\n')
})

test('squash makes one commit with one parent; a draft is not merged', async () => {
  const number = propose('topic', { 'b.txt': 'x\n' })
  env.github.push({ repo: NAME, branch: 'topic', files: { 'c.txt': 'y\n' }, as: 'dev' })
  const main = env.github.commitOf(NAME, 'main')
  const { data } = await merge(number, { merge_method: 'squash' })
  const { data: commit } = await env.app.rest.git.getCommit({ ...FLEET, commit_sha: data.sha })
  expect(commit.parents.map(parent => parent.sha)).toEqual([main])
  env.github.push({ repo: NAME, branch: 'draft', files: { d: '' }, as: 'dev' })
  const draft = env.github.openPullRequest({ repo: NAME, head: 'draft', as: 'dev', draft: true }).issue.number
  await expect(merge(draft)).rejects.toMatchObject({ status: 405 })
  env.github.readyForReview({ repo: NAME, pull: draft, as: 'dev' })
  await merge(draft)
})

test('the app opens, lists, retitles, closes and reopens; a second one for the branch is 422', async () => {
  const { rest } = env.app
  env.github.push({ repo: NAME, branch: 'bot', files: { 'b.txt': 'bot\n' }, as: 'dev' })
  const wanted = { ...FLEET, head: 'bot', base: 'main', title: 'Onboard', body: 'text' }
  const { data: pull } = await rest.pulls.create(wanted)
  expect(pull.user.login).toBe('bailiwick[bot]')
  await expect(rest.pulls.create(wanted)).rejects.toMatchObject({ status: 422 })
  await expect(rest.pulls.create({ ...wanted, head: 'main' })).rejects.toMatchObject({ status: 422 })
  const list = async (query: object) => (await rest.pulls.list({ ...FLEET, ...query })).data.map(each => each.number)
  expect(await list({ head: 'acme:bot', state: 'open' })).toEqual([pull.number])
  expect(await list({ base: 'other' })).toEqual([])
  await rest.pulls.update({ ...FLEET, pull_number: pull.number, title: 'New', state: 'closed' })
  expect(await list({})).toEqual([])
  expect(await list({ state: 'closed' })).toEqual([pull.number])
  await rest.pulls.update({ ...FLEET, pull_number: pull.number, state: 'open' })
  expect((await get(pull.number)).title).toBe('New')
})

test('files are those that really changed, also when main went on', async () => {
  const number = propose('topic', { 'a.txt': '1\n2\n3\n4\nfive\n', 'new/file.yaml': 'k: v\n' })
  env.github.push({ repo: NAME, files: { 'b.txt': 'main\n' }, as: 'ada' })
  const { data } = await env.app.rest.pulls.listFiles({ ...FLEET, pull_number: number })
  expect(data.map(file => [file.filename, file.status, file.additions, file.deletions])).toEqual([
    ['a.txt', 'modified', 1, 1],
    ['new/file.yaml', 'added', 1, 0],
  ])
  expect(data[0]!.patch).toBe('@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five')
  expect(await get(number)).toMatchObject({ commits: 1, additions: 2, deletions: 1, changed_files: 2 })
})

test('deleting the branch closes the pull request; pushing its commit to main merges it', async () => {
  const gone = propose('gone', { 'b.txt': '1\n' })
  env.github.pushRef({ repo: NAME, branch: 'gone', sha: null, as: 'dev' })
  expect(await get(gone)).toMatchObject({ state: 'closed', merged: false })
  const pushed = propose('pushed', { 'b.txt': '2\n' })
  env.github.pushRef({ repo: NAME, branch: 'main', sha: env.github.commitOf(NAME, 'pushed'), as: 'ada' })
  expect(await get(pushed)).toMatchObject({ state: 'closed', merged: true, merged_by: { login: 'ada' } })
})

test('the head of a fork can be read through the base repository', async () => {
  env.github.addRepository({ owner: 'stranger', name: 'fleet', forkOf: NAME, roles: { mallory: 'admin' } })
  env.github.push({ repo: 'stranger/fleet', branch: 'evil', files: { 'evil.txt': 'x' }, as: 'mallory' })
  const pull = env.github.openPullRequest({ repo: NAME, headRepo: 'stranger/fleet', head: 'evil', as: 'mallory' })
  const data = await get(pull.issue.number)
  expect(data.head).toMatchObject({ label: 'stranger:evil', repo: { fork: true, full_name: 'stranger/fleet' } })
  const tree = await env.app.rest.git.getTree({ ...FLEET, tree_sha: data.head.sha, recursive: 'true' })
  expect(tree.data.tree.map(item => item.path)).toContain('evil.txt')
})

test('reviews are kept, and nobody approves their own work', async () => {
  const number = propose('topic', { 'b.txt': 'x\n' })
  const review = { ...FLEET, pull_number: number, event: 'COMMENT', body: 'see' } as const
  const comments = [{ path: 'b.txt', line: 1, body: '```suggestion\ny\n```' }]
  await env.app.rest.pulls.createReview({ ...review, comments })
  const { data } = await env.app.rest.pulls.listReviewComments({ ...FLEET, pull_number: number })
  expect(data).toMatchObject([{ path: 'b.txt', line: 1, user: { login: 'bailiwick[bot]' } }])
  const stray = { ...review, comments: [{ path: 'a.txt', line: 1, body: '' }] }
  await expect(env.app.rest.pulls.createReview(stray)).rejects.toMatchObject({ status: 422 })
  const own = env.as('dev').rest.pulls.createReview({ ...review, event: 'APPROVE' })
  await expect(own).rejects.toMatchObject({ status: 422 })
})
