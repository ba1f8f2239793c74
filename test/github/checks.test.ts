import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, clientOf, FLEET, hookReceiver, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
let number: number
let head: string
beforeEach(async () => {
  env = await acme()
  head = env.github.push({ repo: NAME, branch: 'topic', files: { 'b.txt': 'x\n' }, as: 'dev' }).sha
  number = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue.number
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
})

const NAMED = 'bailiwick / tenancy'
const annotation = (line: number) => ({
  ...{ path: 'b.txt', start_line: line, end_line: line, annotation_level: 'failure', message: `at ${line}` },
})
const annotations = (count: number) => Array.from({ length: count }, (_, i) => annotation(i + 1)) as never
const output = { title: 'One violation', summary: 'text' }

async function run(more: object = {}, client = env.app) {
  return (await client.rest.checks.create({ ...FLEET, name: NAMED, head_sha: head, ...more })).data
}

test('annotations: 51 at once are refused, more come by updates and are appended', async () => {
  await expect(run({ output: { ...output, annotations: annotations(51) } })).rejects.toMatchObject({ status: 422 })
  expect(env.github.checkRunsOf(NAME, head)).toEqual([])
  const { id: check_run_id } = await run({ output: { ...output, annotations: annotations(50) } })
  const update = { ...FLEET, check_run_id, output: { ...output, annotations: annotations(2) } }
  expect((await env.app.rest.checks.update(update)).data.output.annotations_count).toBe(52)
  const all = await env.app.paginate(env.app.rest.checks.listAnnotations, { ...FLEET, check_run_id, per_page: 50 })
  expect(all).toHaveLength(52)
  expect(all[51]).toMatchObject({ path: 'b.txt', start_line: 2, message: 'at 2' })
})

test.each([
  ['title', { output: { ...output, title: 'x'.repeat(256) } }],
  ['summary', { output: { ...output, summary: 'x'.repeat(65_536) } }],
  ['text', { output: { ...output, text: 'x'.repeat(65_536) } }],
  ['message', { output: { ...output, annotations: [{ ...annotation(1), message: 'x'.repeat(65_537) }] } }],
  ['title of an annotation', { output: { ...output, annotations: [{ ...annotation(1), title: 'x'.repeat(256) }] } }],
  ['line 0', { output: { ...output, annotations: [annotation(0)] } }],
  ['columns over lines', { output: { ...output, annotations: [{ ...annotation(1), end_line: 2, start_column: 1 }] } }],
  ['four actions', { actions: Array(4).fill({ identifier: 'a', label: 'b', description: 'c' }) }],
  ['label', { actions: [{ identifier: 'a', label: 'x'.repeat(21), description: 'c' }] }],
  ['completed without a conclusion', { status: 'completed' }],
  ['a commit that is not there', { head_sha: '0'.repeat(40) }],
])('a check run is refused for its %s', async (_, more) => {
  await expect(run(more)).rejects.toMatchObject({ status: 422 })
})

test('what just fits is taken, and comes back as it was said', async () => {
  const full = { title: 'x'.repeat(255), summary: 'ä'.repeat(65_535), text: 'y'.repeat(65_535) }
  const actions = [{ identifier: 'fix', label: 'Fix it', description: 'Opens a pull request' }]
  const made = await run({ external_id: 'id-1', conclusion: 'failure', output: full, actions })
  expect(made).toMatchObject({ status: 'completed', conclusion: 'failure', external_id: 'id-1', output: full })
  expect(made.app).toMatchObject({ id: env.github.app.id, slug: 'bailiwick' })
  expect(made.pull_requests.map(pull => pull.number)).toEqual([number])
  expect(env.github.checkRunsOf(NAME, head)[0]!.actions).toEqual(actions)
})

test('listing: by name, by app, the latest only or all', async () => {
  const other = env.github.addApp({ slug: 'other' })
  const theirs = clientOf(env.github, other, env.github.install(other, 'acme'))
  const [first, second] = [await run(), await run()]
  const [third, foreign] = [await run({ name: 'else' }), await run({}, theirs as typeof env.app)]
  const ids = async (query: object) => {
    const { data } = await env.app.rest.checks.listForRef({ ...FLEET, ref: 'topic', ...query })
    return data.check_runs.map(each => each.id).sort()
  }
  expect(await ids({})).toEqual([second.id, third.id, foreign.id].sort())
  expect(await ids({ filter: 'all' })).toEqual([first.id, second.id, third.id, foreign.id].sort())
  expect(await ids({ check_name: NAMED, app_id: env.github.app.id })).toEqual([second.id])
  await expect(theirs.rest.checks.update({ ...FLEET, check_run_id: first.id, name: 'mine' })).rejects.toMatchObject({
    status: 403,
  })
  await expect(env.as('ada').rest.checks.create({ ...FLEET, name: 'x', head_sha: head })).rejects.toMatchObject({
    status: 403,
  })
})

test('a required check: of that app, the latest of that name, and nothing else opens the merge', async () => {
  env.github.setProtection(NAME, { checks: [{ context: NAMED, appId: env.github.app.id }] })
  const merge = () => env.github.merge({ repo: NAME, pull: number, as: 'dev' })
  expect(merge()).toMatchObject({ status: 405, message: `Required status check "${NAMED}" is expected.` })
  const other = env.github.addApp({ slug: 'forger' })
  await run({ conclusion: 'success' }, clientOf(env.github, other, env.github.install(other, 'acme')) as typeof env.app)
  expect(merge().status).toBe(405)
  await run({ conclusion: 'success' })
  await run({ status: 'in_progress' })
  expect(merge()).toMatchObject({ status: 405, message: `Required status check "${NAMED}" is pending.` })
  await run({ conclusion: 'failure' })
  expect(merge()).toMatchObject({ status: 405, message: `Required status check "${NAMED}" is failing.` })
  await expect(env.app.rest.pulls.merge({ ...FLEET, pull_number: number })).rejects.toMatchObject({ status: 405 })
  await run({ conclusion: 'neutral' })
  expect(merge().status).toBe(200)
})

test('a new commit has no check; strict wants the branch up to date', async () => {
  env.github.setProtection(NAME, { checks: [{ context: NAMED, appId: env.github.app.id }], strict: true })
  await run({ conclusion: 'success' })
  const merge = () => env.github.merge({ repo: NAME, pull: number, as: 'dev' })
  const main = env.github.commitOf(NAME, 'main')
  env.github.push({ repo: NAME, files: { 'c.txt': 'c' }, as: 'ada' })
  expect(merge()).toMatchObject({ status: 405, message: expect.stringContaining('up to date') })
  env.github.setProtection(NAME, { checks: [{ context: NAMED, appId: env.github.app.id }] })
  head = env.github.push({ repo: NAME, branch: 'topic', files: { 'b.txt': 'y\n' }, as: 'dev' }).sha
  expect(merge()).toMatchObject({ status: 405, message: expect.stringContaining('expected') })
  await run({ conclusion: 'success' })
  expect(merge().status).toBe(200)
  expect(env.github.commitOf(NAME, 'main')).not.toBe(main)
})

test('a protected branch: an admin pushes, unless it is enforced; others and apps do not', async () => {
  env.github.setProtection(NAME, { checks: [{ context: NAMED, appId: env.github.app.id }] })
  const push = (as: string) => env.github.push({ repo: NAME, files: { 'c.txt': as }, as })
  expect(() => push('dev')).toThrow(/GH006: Protected branch update failed for refs\/heads\/main/)
  expect(() => push('eve')).toThrow(/denied to eve/)
  const sha = push('ada').sha
  const ref = { ...FLEET, ref: 'heads/main', sha: env.github.commitOf(NAME, sha) }
  const { data: tree } = await env.app.rest.git.getCommit({ ...FLEET, commit_sha: sha })
  const made = await env.app.rest.git.createCommit({ ...FLEET, message: 'm', tree: tree.tree.sha, parents: [sha] })
  await expect(env.app.rest.git.updateRef({ ...ref, sha: made.data.sha })).rejects.toMatchObject({ status: 422 })
  env.github.setProtection(NAME, { checks: [{ context: NAMED }], enforceAdmins: true })
  expect(() => push('ada')).toThrow(/GH006/)
  expect(env.github.merge({ repo: NAME, pull: number, as: 'ada' }).status).toBe(405)
  const force = () => env.github.push({ repo: NAME, as: 'ada', parent: env.github.commitOf(NAME, 'topic') })
  expect(force).toThrow(/force-push/)
})

test('protection is set and read by its own route, bound to an app', async () => {
  const admin = env.as('ada')
  const branch = { ...FLEET, branch: 'main' }
  const rest = { enforce_admins: null, required_pull_request_reviews: null, restrictions: null }
  const checks = [
    { context: NAMED, app_id: env.github.app.id },
    { context: 'any', app_id: -1 },
  ]
  const wanted = { ...branch, ...rest, required_status_checks: { strict: true, contexts: [], checks } }
  await admin.rest.repos.updateBranchProtection(wanted)
  const { data } = await env.app.rest.repos.getBranchProtection(branch)
  expect(data.required_status_checks).toMatchObject({
    strict: true,
    checks: [
      { context: NAMED, app_id: env.github.app.id },
      { context: 'any', app_id: null },
    ],
  })
  await expect(env.as('dev').rest.repos.updateBranchProtection(wanted)).rejects.toMatchObject({ status: 403 })
  await expect(env.app.rest.repos.updateBranchProtection(wanted)).rejects.toMatchObject({ status: 403 })
})

test('asked again: the run stays, its suite is queued, and only its own app hears of it', async () => {
  const made = await run({ conclusion: 'success' })
  const [other, theirs] = [await hookReceiver(), await hookReceiver()]
  env.github.app.webhookUrl = other.url
  const stranger = env.github.addApp({ slug: 'stranger', webhookUrl: theirs.url, events: ['check_run'] })
  env.github.install(stranger, 'acme')
  env.github.rerequest(NAME, made.id, { as: 'dev' })
  await env.github.idle()
  expect(other.heard.map(each => each.headers['x-github-event'])).toEqual(['check_run'])
  const { check_run } = JSON.parse(other.heard[0]!.body)
  expect(check_run).toMatchObject({ conclusion: 'success', check_suite: { status: 'queued', head_branch: 'topic' } })
  expect(theirs.heard.map(each => each.headers['x-github-event'])).toEqual(['installation'])
  expect((await env.app.rest.checks.get({ ...FLEET, check_run_id: made.id })).data.status).toBe('completed')
  expect(() => env.github.rerequest(NAME, made.id, { as: 'eve' })).toThrow(/write/)
  env.github.rerequestSuite(NAME, check_run.check_suite.id, { as: 'dev' })
  await env.github.idle()
  expect(JSON.parse(other.heard.at(-1)!.body).action).toBe('rerequested')
  await Promise.all([other.close(), theirs.close()])
})

test('a suite: one for each app and commit, asked for at a push, complete with the last of its runs', async () => {
  const { checks } = env.app.rest
  const { data } = await checks.listSuitesForRef({ ...FLEET, ref: 'topic' })
  expect(data.check_suites).toMatchObject([
    { status: 'queued', conclusion: null, head_sha: head, head_branch: 'topic' },
  ])
  const check_suite_id = data.check_suites[0]!.id
  const first = await run({ status: 'in_progress' })
  expect(first.check_suite?.id).toBe(check_suite_id)
  await run({ name: 'other', conclusion: 'success' })
  const suite = async () => (await checks.getSuite({ ...FLEET, check_suite_id })).data
  expect(await suite()).toMatchObject({ status: 'in_progress', latest_check_runs_count: 2 })
  await checks.update({ ...FLEET, check_run_id: first.id, conclusion: 'failure' })
  expect(await suite()).toMatchObject({ status: 'completed', conclusion: 'failure' })
  await checks.rerequestSuite({ ...FLEET, check_suite_id })
  expect(await suite()).toMatchObject({ status: 'queued', conclusion: null })
  expect((await checks.listForSuite({ ...FLEET, check_suite_id })).data.total_count).toBe(2)
  expect((await checks.createSuite({ ...FLEET, head_sha: head })).status).toBe(200)
})

test('a button is pressed by who may write, and only one that is there', async () => {
  const made = await run({
    conclusion: 'failure',
    actions: [{ identifier: 'fix', label: 'Fix', description: 'Fixes' }],
  })
  expect(() => env.github.pressAction(NAME, made.id, 'waive', { as: 'dev' })).toThrow(/no action/)
  expect(() => env.github.pressAction(NAME, made.id, 'fix', { as: 'eve' })).toThrow(/write/)
  env.github.pressAction(NAME, made.id, 'fix', { as: 'dev' })
  const tooLong = (field: string, length: number) =>
    run({ actions: [{ identifier: 'a', label: 'b', description: 'c', [field]: 'x'.repeat(length) }] })
  await expect(tooLong('identifier', 21)).rejects.toMatchObject({ status: 422 })
  await expect(tooLong('description', 41)).rejects.toMatchObject({ status: 422 })
  expect((await tooLong('description', 40)).id).toBeGreaterThan(0)
})
