import { afterEach, beforeEach, expect, test } from 'vitest'
import { FLEET, NAME } from '../../tools/github/acme.ts'
import { hearing } from './hearing.ts'

let env: Awaited<ReturnType<typeof hearing>>
beforeEach(async () => {
  env = await hearing()
  await env.hush()
})
afterEach(async () => {
  expect(await env.faults()).toEqual([])
  expect(env.github.responseViolations).toEqual([])
  await env.close()
})

const events = async () => (await env.names()).filter(name => !name.startsWith('check_'))

test('renamed: the old address leads to it for reads and writes, until another takes the name', async () => {
  const { id } = env.github.repositoryNamed(NAME)
  env.github.rename(NAME, 'platform', { as: 'ada' })
  expect(await env.last('repository.renamed')).toMatchObject({
    ...{ changes: { repository: { name: { from: 'fleet' } } }, sender: { login: 'ada' } },
    ...{ repository: { id, full_name: 'acme/platform' }, installation: { id: env.installation.id } },
  })
  expect((await env.app.rest.repos.get(FLEET)).data.full_name).toBe('acme/platform')
  expect((await env.app.rest.issues.create({ ...FLEET, title: 'x' })).data.number).toBe(1)
  const headers = { authorization: `token ${env.github.tokenOf('ada')}` }
  const raw = (query: string, init: RequestInit) =>
    fetch(`${env.github.url}/repos/acme/fleet/issues${query}`, { ...init, headers, redirect: 'manual' })
  const body = JSON.stringify({ title: 'y' })
  const [read, write] = [await raw('?state=all', {}), await raw('', { method: 'POST', body })]
  expect([read.status, write.status]).toEqual([301, 307])
  expect(read.headers.get('location')).toBe(`${env.github.url}/repositories/${id}/issues?state=all`)
  expect(await read.json()).toMatchObject({ message: 'Moved Permanently' })
  const stranger = await fetch(`${env.github.url}/repos/acme/fleet`, { redirect: 'manual' })
  expect(stranger.status).toBe(404)
  const second = env.github.createRepository({ owner: 'acme', name: 'fleet', files: { x: '1' } })
  expect((await env.app.rest.repos.get(FLEET)).data.id).toBe(second.id)
  expect(second.id).not.toBe(id)
  expect((await events()).slice(-3)).toEqual(['issues.opened', 'installation_repositories.added', 'repository.created'])
})

test('transferred: only the app of the new owner hears of it, and the old one loses it', async () => {
  env.github.addOrganization('other', { admins: ['ada'] })
  env.github.transfer(NAME, 'other', { as: 'ada' })
  expect(await events()).toEqual(['installation_repositories.removed'])
  expect((await env.last('installation_repositories.removed')).repositories_removed).toMatchObject([
    { full_name: 'other/fleet' },
  ])
  await expect(env.app.rest.repos.get(FLEET)).rejects.toMatchObject({ status: 404 })
  env.github.install(env.github.app, 'other')
  await env.hush()
  env.github.addOrganization('third', { admins: ['ada'] })
  env.github.install(env.github.app, 'third')
  await env.hush()
  env.github.transfer('other/fleet', 'third', { as: 'ada' })
  expect(await events()).toEqual([
    ...['installation_repositories.removed', 'installation_repositories.added', 'repository.transferred'],
  ])
  const { changes, repository } = await env.last('repository.transferred')
  expect([changes.owner.from.organization.login, repository.full_name]).toEqual(['other', 'third/fleet'])
})

test('archived: everything is read and nothing written, until the end of it', async () => {
  env.github.archive(NAME, { as: 'ada' })
  expect((await env.last('repository.archived')).repository.archived).toBe(true)
  const refused = { status: 403, message: expect.stringContaining('Repository was archived so is read-only.') }
  const { repos, checks, issues } = env.app.rest
  const head_sha = env.github.commitOf(NAME, 'main')
  expect((await repos.get(FLEET)).data.archived).toBe(true)
  await expect(checks.create({ ...FLEET, name: 'c', head_sha })).rejects.toMatchObject(refused)
  await expect(issues.create({ ...FLEET, title: 'x' })).rejects.toMatchObject(refused)
  expect(() => env.github.push({ repo: NAME, files: { x: '1' }, as: 'ada' })).toThrow(/archived/)
  await env.as('ada').rest.repos.update({ ...FLEET, archived: false })
  expect((await env.last('repository.unarchived')).sender.login).toBe('ada')
  expect((await checks.create({ ...FLEET, name: 'c', head_sha })).status).toBe(201)
})

test('deleted: it is gone, also from the installation; a fork that is gone leaves its pull request', async () => {
  env.github.setRole(NAME, 'mallory', 'read')
  env.github.addUser('mallory')
  env.github.fork(NAME, 'mallory')
  env.github.push({ repo: 'mallory/fleet', branch: 'topic', files: { t: '1' }, as: 'mallory' })
  const wanted = { repo: NAME, head: 'topic', headRepo: 'mallory/fleet', as: 'mallory' }
  const pull_number = env.github.openPullRequest(wanted).issue.number
  env.github.deleteRepository('mallory/fleet')
  expect((await env.app.rest.pulls.get({ ...FLEET, pull_number })).data.head.repo).toBeNull()
  await env.hush()
  env.github.deleteRepository(NAME, { as: 'ada' })
  expect(await events()).toEqual(['repository.deleted', 'installation_repositories.removed'])
  await expect(env.app.rest.repos.get(FLEET)).rejects.toMatchObject({ status: 404 })
})

test('seen by all, or by few again; the default branch switched', async () => {
  env.github.makePublic(NAME, { as: 'ada' })
  expect((await fetch(`${env.github.url}/repos/acme/fleet`)).status).toBe(200)
  env.github.makePrivate(NAME, { as: 'ada' })
  expect((await fetch(`${env.github.url}/repos/acme/fleet`)).status).toBe(404)
  env.github.pushRef({ repo: NAME, branch: 'next', sha: env.github.commitOf(NAME, 'main'), as: 'dev' })
  env.github.setDefaultBranch(NAME, 'next', { as: 'ada' })
  expect(await env.last('repository.edited')).toMatchObject({
    ...{ changes: { default_branch: { from: 'main' } }, repository: { default_branch: 'next' } },
  })
  expect(() => env.github.setDefaultBranch(NAME, 'none')).toThrow()
  expect(await events()).toEqual([
    ...['repository.publicized', 'public', 'repository.privatized', 'push', 'repository.edited'],
  ])
})

test('an installation: suspended and back, other repositories, other permissions', async () => {
  env.github.suspend(env.installation, { as: 'ada' })
  const refused = { status: 403, message: expect.stringContaining('suspended') }
  await expect(env.app.rest.repos.get(FLEET)).rejects.toMatchObject(refused)
  const asApp = env.app.rest.apps
  const installation_id = env.installation.id
  const { data } = await asApp.getInstallation({ installation_id })
  expect(data.suspended_by).toMatchObject({ login: 'ada' })
  env.github.push({ repo: NAME, files: { x: '1' }, as: 'ada' })
  expect(await events()).toEqual(['installation.suspend'])
  env.github.unsuspend(env.installation, { as: 'ada' })
  expect((await env.app.rest.repos.get(FLEET)).status).toBe(200)
  env.github.addRepository({ owner: 'acme', name: 'ops', files: { x: '1' } })
  env.github.selectRepositories(env.installation, ['acme/ops'], { as: 'ada' })
  expect(await env.last('installation_repositories.removed')).toMatchObject({
    ...{ repositories_removed: [{ full_name: NAME }], repository_selection: 'selected' },
  })
  await expect(env.app.rest.repos.get(FLEET)).rejects.toMatchObject({ status: 404 })
  env.github.selectRepositories(env.installation, 'all', { as: 'ada' })
  expect((await env.last('installation_repositories.added')).repositories_added).toMatchObject([{ full_name: NAME }])
})
