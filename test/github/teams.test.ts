import { afterEach, beforeEach, expect, test } from 'vitest'
import { acme, clientOf, FLEET, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme()
  env.github.addTeam('acme', 'Platform', ['lena'], { roles: { [NAME]: 'maintain' }, pending: ['paul'] })
  env.github.addTeam('acme', 'on call', [], { parent: 'platform', maintainers: ['olga', 'ada'] })
})
afterEach(async () => {
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.github.close()
})

test('membership: of the team and of those below it, active, invited, or none', async () => {
  const of = async (username: string, team_slug = 'platform') => {
    const { data } = await env.app.rest.teams.getMembershipForUserInOrg({ org: 'acme', team_slug, username })
    return [data.state, data.role]
  }
  expect(await of('lena')).toEqual(['active', 'member'])
  expect(await of('olga')).toEqual(['active', 'maintainer'])
  expect(await of('ada', 'on-call')).toEqual(['active', 'maintainer'])
  expect(await of('paul')).toEqual(['pending', 'member'])
  await expect(of('eve')).rejects.toMatchObject({ status: 404 })
  await expect(of('lena', 'on-call')).rejects.toMatchObject({ status: 404 })
  await expect(of('lena', 'none')).rejects.toMatchObject({ status: 404 })
  const { data } = await env.app.rest.teams.listMembersInOrg({ org: 'acme', team_slug: 'platform' })
  expect(data.map(each => each.login).sort()).toEqual(['ada', 'lena', 'olga'])
})

test('an app without members:read is refused, people outside see nothing', async () => {
  const weak = env.github.addApp({ slug: 'weak', permissions: { contents: 'read' } })
  const client = clientOf(env.github, weak, env.github.install(weak, 'acme')) as typeof env.app
  await expect(client.rest.teams.list({ org: 'acme' })).rejects.toMatchObject({ status: 403 })
  env.github.addUser('mallory')
  await expect(env.as('mallory').rest.teams.list({ org: 'acme' })).rejects.toMatchObject({ status: 404 })
  expect((await env.as('eve').rest.teams.list({ org: 'acme' })).data.map(each => each.slug)).toEqual([
    'platform',
    'on-call',
  ])
  const member = (username: string) => env.app.rest.orgs.checkMembershipForUser({ org: 'acme', username })
  expect((await member('lena')).status).toBe(204)
  await expect(member('mallory')).rejects.toMatchObject({ status: 404 })
  const { data } = await env.app.rest.orgs.getMembershipForUser({ org: 'acme', username: 'ada' })
  expect(data).toMatchObject({ role: 'admin', state: 'active' })
})

test('a team’s role is its members’ role, in the words of both fields', async () => {
  const { data } = await env.app.rest.repos.getCollaboratorPermissionLevel({ ...FLEET, username: 'olga' })
  expect(data).toMatchObject({ permission: 'write', role_name: 'maintain' })
  const teams = (await env.app.rest.repos.listTeams(FLEET)).data
  expect(teams.map(each => [each.slug, each.permission, each.parent?.slug])).toEqual([
    ['platform', 'maintain', undefined],
    ['on-call', 'maintain', 'platform'],
  ])
  expect((await env.app.rest.teams.getByName({ org: 'acme', team_slug: 'platform' })).data.members_count).toBe(3)
})

test('activity tells how branches moved, by pages', async () => {
  const main = env.github.commitOf(NAME, 'main')
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' })
  const second = env.github.push({ repo: NAME, branch: 'topic', files: { t: '2' }, as: 'dev' }).sha
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '3' }, as: 'dev', parent: main })
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue
  env.github.merge({ repo: NAME, pull: number, as: 'ada' })
  env.github.pushRef({ repo: NAME, branch: 'topic', sha: null, as: 'dev' })
  const all = await env.app.paginate('GET /repos/{owner}/{repo}/activity', { ...FLEET, per_page: 2 })
  expect(all.map(each => [each.activity_type, each.ref, each.actor?.login])).toEqual([
    ['branch_deletion', 'refs/heads/topic', 'dev'],
    ['pr_merge', 'refs/heads/main', 'ada'],
    ['force_push', 'refs/heads/topic', 'dev'],
    ['push', 'refs/heads/topic', 'dev'],
    ['branch_creation', 'refs/heads/topic', 'dev'],
  ])
  const forced = await env.app.rest.repos.listActivities({ ...FLEET, ref: 'topic', activity_type: 'force_push' })
  expect(forced.data).toMatchObject([{ before: second }])
})

test('the events of a pull request tell who labeled it and when', async () => {
  env.github.push({ repo: NAME, branch: 'topic', files: { t: '1' }, as: 'dev' })
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue
  env.github.label({ repo: NAME, issue: number, label: 'bailiwick/hold', as: 'dev' })
  env.github.merge({ repo: NAME, pull: number, as: 'ada' })
  const { data } = await env.app.rest.issues.listEvents({ ...FLEET, issue_number: number })
  expect(data.map(each => [each.event, each.actor?.login])).toEqual([
    ['labeled', 'dev'],
    ['merged', 'ada'],
    ['closed', 'ada'],
  ])
  expect(data[0]).toMatchObject({ label: { name: 'bailiwick/hold' } })
})

test('a fork is its owner’s, and its commits are reachable through the base', async () => {
  env.github.setRole(NAME, 'mallory', 'read')
  env.github.addUser('mallory')
  env.github.fork(NAME, 'mallory')
  const { sha } = env.github.push({ repo: 'mallory/fleet', branch: 'evil', files: { t: '1' }, as: 'mallory' })
  const wanted = { repo: NAME, head: 'evil', headRepo: 'mallory/fleet', as: 'mallory' }
  const { number } = env.github.openPullRequest(wanted).issue
  const { data } = await env.app.rest.git.getRef({ ...FLEET, ref: `pull/${number}/head` })
  expect(data.object.sha).toBe(sha)
  const { data: run } = await env.app.rest.checks.create({ ...FLEET, name: 'c', head_sha: sha })
  expect(run.pull_requests).toEqual([])
  expect(() => env.github.fork(NAME, 'stranger')).toThrow()
})
