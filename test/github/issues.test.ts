import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, FLEET, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
let issue_number: number
beforeEach(async () => {
  env = await acme()
  issue_number = env.github.issue({ repo: NAME, title: 'Onboard us', as: 'eve' }).number
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
})

test('a comment of the app says so: its bot, and the app itself', async () => {
  const { data } = await env.app.rest.issues.createComment({ ...FLEET, issue_number, body: 'Hello' })
  expect(data.user).toMatchObject({ login: 'bailiwick[bot]', type: 'Bot' })
  expect(data.performed_via_github_app).toMatchObject({ id: env.github.app.id, slug: 'bailiwick' })
  const person = await env.as('eve').rest.issues.createComment({ ...FLEET, issue_number, body: 'Hello' })
  expect(person.data).toMatchObject({ user: { login: 'eve', type: 'User' }, performed_via_github_app: null })
  const list = await env.app.rest.issues.listComments({ ...FLEET, issue_number })
  expect(list.data.map(comment => comment.user?.login)).toEqual(['bailiwick[bot]', 'eve'])
  expect(env.github.commentsOf(NAME, issue_number).map(comment => comment.body)).toEqual(['Hello', 'Hello'])
})

test('an app changes and deletes its own comments, and nobody else’s', async () => {
  const { issues } = env.app.rest
  const own = (await issues.createComment({ ...FLEET, issue_number, body: 'one' })).data.id
  await issues.updateComment({ ...FLEET, comment_id: own, body: 'two' })
  expect((await issues.getComment({ ...FLEET, comment_id: own })).data.body).toBe('two')
  const other = env.github.comment({ repo: NAME, issue: issue_number, as: 'eve', body: 'mine' }).id
  await expect(issues.updateComment({ ...FLEET, comment_id: other, body: 'x' })).rejects.toMatchObject({ status: 403 })
  await issues.deleteComment({ ...FLEET, comment_id: own })
  await expect(issues.getComment({ ...FLEET, comment_id: own })).rejects.toMatchObject({ status: 404 })
})

test('65,536 characters are a comment, one more is not', async () => {
  const { issues } = env.app.rest
  const comment = (length: number) => issues.createComment({ ...FLEET, issue_number, body: 'x'.repeat(length) })
  expect((await comment(65_536)).status).toBe(201)
  await expect(comment(65_537)).rejects.toMatchObject({ status: 422, message: expect.stringContaining('too long') })
})

test('reactions: once each, told by user', async () => {
  const { id: comment_id } = env.github.comment({ repo: NAME, issue: issue_number, as: 'eve', body: '/bailiwick x' })
  const react = () => env.app.rest.reactions.createForIssueComment({ ...FLEET, comment_id, content: '-1' })
  expect([(await react()).status, (await react()).status]).toEqual([201, 200])
  const { data } = await env.app.rest.reactions.listForIssueComment({ ...FLEET, comment_id })
  expect(data).toMatchObject([{ content: '-1', user: { login: 'bailiwick[bot]' } }])
})

test('issues: opened by the app, found, closed; a pull request is one and says so', async () => {
  const { issues } = env.app.rest
  const { data } = await issues.create({ ...FLEET, title: 'Report', body: 'text', labels: ['bailiwick'] })
  expect(data).toMatchObject({ user: { login: 'bailiwick[bot]' }, labels: [{ name: 'bailiwick' }] })
  expect(data.pull_request).toBeUndefined()
  env.github.push({ repo: NAME, branch: 'topic', files: { x: '1' }, as: 'dev' })
  const pull = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue.number
  expect(pull).toBe(data.number + 1)
  expect((await issues.get({ ...FLEET, issue_number: pull })).data.pull_request?.url).toMatch(/pulls\/3$/)
  const found = await issues.listForRepo({ ...FLEET, labels: 'bailiwick', creator: 'bailiwick[bot]' })
  expect(found.data.map(each => each.number)).toEqual([data.number])
  await issues.update({ ...FLEET, issue_number: data.number, state: 'closed' })
  expect((await issues.listForRepo(FLEET)).data.map(each => each.number)).toEqual([pull, issue_number])
})
