import { afterEach, beforeEach, expect, test } from 'vitest'
import { FLEET, NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

let env: Awaited<ReturnType<typeof hearing>>
let issue_number: number
let pull: number
beforeEach(async () => {
  env = await hearing()
  issue_number = env.github.issue({ repo: NAME, title: 'Onboard us', as: 'eve' }).number
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' })
  pull = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue.number
  await env.hush()
})
afterEach(async () => {
  expect(await env.faults()).toEqual([])
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.close()
})

const names = (labels: readonly { readonly name: string }[]) => labels.map(label => label.name)

test('a label is made on first use, and each that is new on a pull request is told alone', async () => {
  const { issues, pulls } = env.app.rest
  const onPull = { ...FLEET, issue_number: pull }
  const { data } = await issues.addLabels({ ...onPull, labels: ['bailiwick/hold', 'bug'] })
  expect(data).toMatchObject([{ name: 'bailiwick/hold', color: 'ededed', default: false }, { name: 'bug' }])
  await issues.addLabels({ ...onPull, labels: ['BUG'] })
  expect(await env.names()).toEqual(['label.created', 'pull_request.labeled', 'pull_request.labeled'])
  const { label, pull_request, sender } = await env.last('pull_request.labeled')
  expect([label.name, sender.login, names(pull_request.labels)]).toEqual([
    'bug',
    'bailiwick[bot]',
    ['bailiwick/hold', 'bug'],
  ])
  expect(names((await issues.listLabelsOnIssue(onPull)).data)).toEqual(['bailiwick/hold', 'bug'])
  expect(names((await pulls.list(FLEET)).data[0]!.labels)).toEqual(['bailiwick/hold', 'bug'])
})

test('a label comes off, and one that is not on it is 404', async () => {
  const { issues } = env.app.rest
  const onPull = { ...FLEET, issue_number: pull }
  env.github.label({ repo: NAME, issue: pull, label: 'bailiwick/hold', as: 'dev' })
  expect((await env.last('pull_request.labeled')).sender.login).toBe('dev')
  expect((await issues.removeLabel({ ...onPull, name: 'bailiwick/hold' })).data).toEqual([])
  expect((await env.last('pull_request.unlabeled')).label.name).toBe('bailiwick/hold')
  await expect(issues.removeLabel({ ...onPull, name: 'bailiwick/hold' })).rejects.toMatchObject({
    ...{ status: 404, message: expect.stringContaining('Label does not exist') },
  })
  expect((await issues.getLabel({ ...FLEET, name: 'bailiwick/hold' })).data.name).toBe('bailiwick/hold')
})

test('on an issue it is an event of issues, and setting says what came and what went', async () => {
  const { issues } = env.app.rest
  await issues.addLabels({ ...FLEET, issue_number, labels: ['bug', 'question'] })
  await env.hush()
  const { data } = await issues.setLabels({ ...FLEET, issue_number, labels: ['question', 'invalid'] })
  expect(names(data)).toEqual(['invalid', 'question'])
  expect(await env.names()).toEqual(['issues.unlabeled', 'issues.labeled'])
  await issues.removeAllLabels({ ...FLEET, issue_number })
  expect((await issues.get({ ...FLEET, issue_number })).data.labels).toEqual([])
})

test('labels of the repository: made, renamed on every issue, deleted from every issue', async () => {
  const { issues } = env.app.rest
  await issues.createLabel({ ...FLEET, name: 'tenant', color: 'ff0000', description: 'about tenants' })
  await expect(issues.createLabel({ ...FLEET, name: 'Tenant' })).rejects.toMatchObject({ status: 422 })
  await expect(issues.createLabel({ ...FLEET, name: 'x'.repeat(51) })).rejects.toMatchObject({ status: 422 })
  await issues.addLabels({ ...FLEET, issue_number, labels: ['tenant'] })
  await issues.updateLabel({ ...FLEET, name: 'tenant', new_name: 'tenants' })
  expect((await env.last('label.edited')).changes).toEqual({ name: { from: 'tenant' } })
  expect((await issues.get({ ...FLEET, issue_number })).data.labels).toMatchObject([{ name: 'tenants' }])
  await issues.deleteLabel({ ...FLEET, name: 'tenants' })
  expect((await issues.get({ ...FLEET, issue_number })).data.labels).toEqual([])
  const all = await env.app.paginate(issues.listLabelsForRepo, { ...FLEET, per_page: 5 })
  expect(names(all)).toContain('good first issue')
})

test('who may: triage puts labels on, a reader does not, nor an app without the permission', async () => {
  env.github.setRole(NAME, 'tim', 'triage')
  env.github.addUser('tim')
  env.github.label({ repo: NAME, issue: pull, label: 'bug', as: 'tim' })
  expect(() => env.github.unlabel({ repo: NAME, issue: pull, label: 'bug', as: 'eve' })).toThrow(/triage/)
  const asEve = env.as('eve').rest.issues
  await expect(asEve.addLabels({ ...FLEET, issue_number, labels: ['bug'] })).rejects.toMatchObject({ status: 403 })
  const { data } = await asEve.create({ ...FLEET, title: 'x', labels: ['bug'] })
  expect(data.labels).toEqual([])
})

test('an issue is edited by its author, closed with a reason, and opened again', async () => {
  env.github.editIssue({ repo: NAME, issue: issue_number, title: 'Onboard us, please', as: 'eve' })
  expect((await env.last('issues.edited')).changes).toEqual({ title: { from: 'Onboard us' } })
  env.github.closeIssue({ repo: NAME, issue: issue_number, as: 'eve', reason: 'not_planned' })
  expect((await env.last('issues.closed')).issue).toMatchObject({ state: 'closed', state_reason: 'not_planned' })
  env.github.reopenIssue({ repo: NAME, issue: issue_number, as: 'ada' })
  expect((await env.last('issues.reopened')).issue).toMatchObject({ state: 'open', state_reason: 'reopened' })
  env.github.addUser('mallory')
  expect(() => env.github.closeIssue({ repo: NAME, issue: issue_number, as: 'mallory' })).toThrow()
  const asEve = env.as('eve').rest.issues
  const close = asEve.update({ ...FLEET, issue_number: pull, state: 'closed' })
  await expect(close).rejects.toMatchObject({ status: 403 })
  await asEve.update({ ...FLEET, issue_number, body: 'more' })
  expect((await env.last('issues.edited')).changes).toEqual({ body: { from: '' } })
})

test('opened with labels: first opened, then labeled', async () => {
  await env.app.rest.issues.create({ ...FLEET, title: 'Report', labels: ['bailiwick'] })
  expect(await env.names()).toEqual(['issues.opened', 'label.created', 'issues.labeled'])
})

test('a draft begins and ends, and closing a pull request as an issue closes it', async () => {
  env.github.convertToDraft({ repo: NAME, pull, as: 'dev' })
  env.github.convertToDraft({ repo: NAME, pull, as: 'dev' })
  expect((await env.app.rest.pulls.get({ ...FLEET, pull_number: pull })).data.draft).toBe(true)
  env.github.readyForReview({ repo: NAME, pull, as: 'dev' })
  await env.app.rest.issues.update({ ...FLEET, issue_number: pull, state: 'closed' })
  env.github.reopenPullRequest({ repo: NAME, pull, as: 'dev' })
  env.github.editPullRequest({ repo: NAME, pull, title: 'New', body: 'text', as: 'dev' })
  expect(await env.names()).toEqual(
    ['converted_to_draft', 'ready_for_review', 'closed', 'reopened', 'edited'].map(name => `pull_request.${name}`),
  )
  expect((await env.last('pull_request.edited')).changes).toEqual({ title: { from: 'topic' }, body: { from: '' } })
})

test('a comment is edited by its author and deleted by who may write', async () => {
  const { id } = env.github.comment({ repo: NAME, issue: pull, body: '/bailiwick check', as: 'eve' })
  env.github.editComment({ repo: NAME, comment: id, body: '/bailiwick help', as: 'eve' })
  expect((await env.last('issue_comment.edited')).changes).toEqual({ body: { from: '/bailiwick check' } })
  env.github.deleteComment({ repo: NAME, comment: id, as: 'dev' })
  expect(await env.last('issue_comment.deleted')).toMatchObject({ sender: { login: 'dev' }, comment: { id } })
})
