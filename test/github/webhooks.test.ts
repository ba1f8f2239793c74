import { verify } from '@octokit/webhooks-methods'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, FLEET, hookReceiver, NAME } from '../../tools/github/acme.ts'
import { description } from '../../tools/github/http/description.ts'

let env: Awaited<ReturnType<typeof acme>>
let hook: Awaited<ReturnType<typeof hookReceiver>>
beforeEach(async () => {
  hook = await hookReceiver()
  env = await acme({ app: { webhookUrl: hook.url, webhookSecret: 'shh' } })
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
  await hook.close()
})

/** All that was heard but for check suites, which every push asks for: name, action and payload. */
async function heard() {
  await env.github.idle()
  const heard = hook.heard.filter(({ headers }) => headers['x-github-event'] !== 'check_suite')
  return heard.map(({ headers, body }) => {
    const payload = JSON.parse(body)
    const event = String(headers['x-github-event'])
    return { name: payload.action ? `${event}.${payload.action}` : event, payload, headers, body }
  })
}

const names = async () => (await heard()).map(each => each.name)
const last = async (name: string) => (await heard()).findLast(each => each.name === name)!.payload

test('a delivery is signed, named by a UUID of its own, and tells the installation', async () => {
  env.github.push({ repo: NAME, files: { 'b.txt': 'x' }, as: 'ada' })
  env.github.push({ repo: NAME, files: { 'b.txt': 'y' }, as: 'ada' })
  const all = await heard()
  expect(all.map(each => each.name)).toEqual(['installation.created', 'push', 'push'])
  for (const { headers, body } of all) {
    expect(headers['x-github-delivery']).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(headers['user-agent']).toMatch(/^GitHub-Hookshot\//)
    expect(headers['content-type']).toBe('application/json')
    expect(await verify('shh', body, String(headers['x-hub-signature-256']))).toBe(true)
    expect(await verify('other', body, String(headers['x-hub-signature-256']))).toBe(false)
  }
  expect(new Set(all.map(each => each.headers['x-github-delivery'])).size).toBe(3)
  expect(all[1]!.payload.installation.id).toBe(env.installation.id)
})

test('push: what happened to the ref, and its commits', async () => {
  const before = env.github.commitOf(NAME, 'main')
  const commit = env.github.push({
    repo: NAME,
    files: { 'b.txt': 'x', new: 'n' },
    remove: ['a.txt'],
    message: 'M',
    as: 'ada',
  })
  expect(await last('push')).toMatchObject({
    ...{ ref: 'refs/heads/main', before, after: commit.sha, created: false, deleted: false, forced: false },
    commits: [{ id: commit.sha, message: 'M', added: ['new'], removed: ['a.txt'], modified: ['b.txt'] }],
    head_commit: { id: commit.sha, tree_id: commit.tree },
    ...{ sender: { login: 'ada' }, repository: { full_name: NAME, owner: { name: 'acme' } } },
  })
  env.github.push({ repo: NAME, branch: 'topic', files: { t: 't' }, as: 'dev' })
  expect(await last('push')).toMatchObject({ created: true, before: '0'.repeat(40), commits: [{ added: ['t'] }] })
  env.github.push({ repo: NAME, branch: 'topic', files: { u: 'u' }, as: 'dev', parent: before })
  expect(await last('push')).toMatchObject({ forced: true, created: false })
  env.github.pushRef({ repo: NAME, branch: 'topic', sha: null, as: 'dev' })
  expect(await last('push')).toMatchObject({ deleted: true, after: '0'.repeat(40), head_commit: null, commits: [] })
})

test('a pull request tells its whole life, and a merge is a push too', async () => {
  const first = env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' }).sha
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev', draft: true }).issue
  const second = env.github.push({ repo: NAME, branch: 'topic', files: { t: '2' }, as: 'dev' }).sha
  const synchronize = await last('pull_request.synchronize')
  expect(synchronize).toMatchObject({ number, before: first, after: second, pull_request: { head: { sha: second } } })
  env.github.readyForReview({ repo: NAME, pull: number, as: 'dev' })
  await env.app.rest.pulls.update({ ...FLEET, pull_number: number, title: 'Better' })
  expect(await last('pull_request.edited')).toMatchObject({ changes: { title: { from: 'topic' } } })
  env.github.closePullRequest({ repo: NAME, pull: number, as: 'dev' })
  await env.app.rest.pulls.update({ ...FLEET, pull_number: number, state: 'open' })
  await env.github.idle()
  hook.heard.splice(0)
  const { sha } = env.github.merge({ repo: NAME, pull: number, as: 'ada' })
  expect(await names()).toEqual(['push', 'pull_request.closed'])
  expect(await last('push')).toMatchObject({ after: sha, ref: 'refs/heads/main' })
  const closed = { merged: true, merge_commit_sha: sha, merged_by: { login: 'ada' } }
  expect(await last('pull_request.closed')).toMatchObject({ pull_request: closed })
})

test('a pull request that is led to another base says from where', async () => {
  env.github.pushRef({ repo: NAME, branch: 'release', sha: env.github.commitOf(NAME, 'main'), as: 'dev' })
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' })
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', base: 'release', as: 'dev' }).issue
  await env.app.rest.pulls.update({ ...FLEET, pull_number: number, base: 'main' })
  const { changes, pull_request } = await last('pull_request.edited')
  expect(changes.base.ref).toEqual({ from: 'release' })
  expect(pull_request).toMatchObject({ base: { ref: 'main' }, mergeable: null })
})

test('comments say whether they stand on a pull request; check runs say whose they are', async () => {
  const issue = env.github.issue({ repo: NAME, title: 'Please', as: 'ada' })
  env.github.comment({ repo: NAME, issue: issue.number, body: '/bailiwick help', as: 'ada' })
  const created = await last('issue_comment.created')
  expect(created).toMatchObject({
    comment: { body: '/bailiwick help', user: { login: 'ada' } },
    sender: { login: 'ada' },
  })
  expect(created.issue.pull_request).toBeUndefined()
  const head_sha = env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' }).sha
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue
  env.github.comment({ repo: NAME, issue: number, body: 'x', as: 'dev' })
  expect((await last('issue_comment.created')).issue.pull_request.url).toMatch(/pulls\/2$/)
  const actions = [{ identifier: 'fix', label: 'Fix', description: 'Fixes it' }]
  const made = { ...FLEET, name: 'c', head_sha, conclusion: 'failure', actions } as const
  await env.app.rest.checks.create(made)
  const run = env.github.checkRunsOf(NAME, head_sha)[0]!
  env.github.requestAction({ repo: NAME, run, identifier: 'fix', as: 'dev' })
  env.github.rerun({ repo: NAME, run, as: 'dev' })
  expect((await names()).slice(-4)).toEqual(
    ['created', 'completed', 'requested_action', 'rerequested'].map(action => `check_run.${action}`),
  )
  const { check_run, requested_action } = await last('check_run.requested_action')
  expect(check_run).toMatchObject({ app: { slug: 'bailiwick' }, pull_requests: [{ number }] })
  expect(requested_action).toEqual({ identifier: 'fix' })
})

test('payloads are those that GitHub describes', async () => {
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' })
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue
  const { sha: head_sha } = env.github.push({ repo: NAME, branch: 'topic', files: { t: '2' }, as: 'dev' })
  env.github.comment({ repo: NAME, issue: number, body: 'x', as: 'dev' })
  await env.app.rest.checks.create({ ...FLEET, name: 'c', head_sha, conclusion: 'success' })
  env.github.merge({ repo: NAME, pull: number, as: 'ada' })
  for (const { name, payload } of await heard()) {
    const key = name.replaceAll(/[._]/g, '-')
    const schema = description().webhookSchema(key)
    expect(schema, key).toBeDefined()
    expect(description().check(`webhook ${key}`, schema!, payload), key).toEqual([])
  }
})

test('events go to the apps that are installed there and subscribed, and to no other', async () => {
  const quiet = await hookReceiver()
  const some = { webhookUrl: quiet.url, events: ['push'], permissions: { contents: 'read' } } as const
  const selected = env.github.addApp({ slug: 'selected', ...some })
  env.github.addRepository({ owner: 'acme', name: 'other', files: { x: '1' }, roles: { dev: 'write' } })
  env.github.install(selected, 'acme', ['other'])
  env.github.push({ repo: NAME, files: { x: '1' }, as: 'ada' })
  env.github.push({ repo: 'acme/other', files: { x: '2' }, as: 'dev' })
  env.github.issue({ repo: 'acme/other', title: 'x', as: 'dev' })
  await env.github.idle()
  expect(quiet.heard.map(each => each.headers['x-github-event'])).toEqual(['installation', 'push'])
  await quiet.close()
})

test('an event is heard only with the permission that it needs, checks without asking', async () => {
  const theirs = await hookReceiver()
  const permissions = { contents: 'read', checks: 'write' } as const
  const some = { webhookUrl: theirs.url, events: ['push', 'issues', 'merge_group'], permissions }
  env.github.install(env.github.addApp({ slug: 'some', ...some }), 'acme')
  env.github.issue({ repo: NAME, title: 'x', as: 'dev' })
  env.github.push({ repo: NAME, files: { x: '1' }, as: 'ada' })
  await env.github.idle()
  const events = theirs.heard.map(each => each.headers['x-github-event'])
  expect(events).toEqual(['installation', 'push', 'check_suite'])
  await theirs.close()
})
