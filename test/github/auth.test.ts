import { createSign, generateKeyPairSync } from 'node:crypto'
import { Octokit } from '@octokit/rest'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acme, clientOf, FLEET, NAME } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme()
})
afterEach(async () => {
  vi.useRealTimers()
  expect(env.github.responseViolations).toEqual([])
  await env.github.close()
})

function jwt(claims: object, key = env.github.app.privateKey, alg = 'RS256'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = `${part({ alg, typ: 'JWT' })}.${part(claims)}`
  return `${head}.${createSign('sha256').update(head).sign(key, 'base64url')}`
}

const get = (path: string, authorization?: string) =>
  fetch(env.github.url + path, { headers: authorization ? { authorization } : {} })
const seconds = () => Math.floor(Date.now() / 1000)

test('a JSON web token is believed only when it is right', async () => {
  const { id } = env.github.app
  const good = { iss: id, iat: seconds() - 30, exp: seconds() + 300 }
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  })
  const status = async (token: string) => (await get('/app', `Bearer ${token}`)).status
  expect(await status(jwt(good))).toBe(200)
  expect(await status(jwt({ ...good, iss: env.github.app.clientId }))).toBe(200)
  expect(await status(jwt({ ...good, exp: seconds() - 1 }))).toBe(401)
  expect(await status(jwt({ ...good, exp: seconds() + 3600 }))).toBe(401)
  expect(await status(jwt({ ...good, iat: seconds() + 600 }))).toBe(401)
  expect(await status(jwt({ ...good, iss: 1 }))).toBe(401)
  expect(await status(jwt(good, String(stranger)))).toBe(401)
  expect(await status(jwt(good, undefined, 'none'))).toBe(401)
})

test('an unknown token, a bad scheme and a missing user agent are refused', async () => {
  expect((await get('/repos/acme/fleet', 'Bearer ghs_unknown')).status).toBe(401)
  expect((await get('/repos/acme/fleet', 'Basic abc')).status).toBe(401)
  expect((await get('/repos/acme/fleet')).status).toBe(404)
  const bare = await fetch(`${env.github.url}/repos/acme/fleet`, { headers: { 'user-agent': '' } })
  expect(bare.status).toBe(403)
})

test('an installation token ends after an hour, and with the installation', async () => {
  const { token } = (await env.app.auth({ type: 'installation', refresh: true })) as { token: string }
  expect((await get('/repos/acme/fleet', `token ${token}`)).status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
  expect((await get('/repos/acme/fleet', `token ${token}`)).status).toBe(401)
  vi.useRealTimers()
  expect((await get('/repos/acme/fleet', `token ${token}`)).status).toBe(200)
  env.github.uninstall(env.installation)
  expect((await get('/repos/acme/fleet', `token ${token}`)).status).toBe(401)
})

test('permissions: what was not granted is 403, and a token can be made for less', async () => {
  const permissions = { contents: 'read', pull_requests: 'read' } as const
  const weak = env.github.addApp({ slug: 'weak', permissions })
  const client = clientOf(env.github, weak, env.github.install(weak, 'acme'))
  expect((await client.rest.repos.get(FLEET)).status).toBe(200)
  const sha = env.github.commitOf(NAME, 'main')
  const check = client.rest.checks.create({ ...FLEET, name: 'x', head_sha: sha })
  const denied = { status: 403, message: expect.stringContaining('Resource not accessible by integration') }
  await expect(check).rejects.toMatchObject(denied)
  await expect(client.rest.git.createRef({ ...FLEET, ref: 'refs/heads/x', sha })).rejects.toMatchObject(denied)
  const asApp = env.app.rest.apps
  const installation_id = env.installation.id
  const narrow = await asApp.createInstallationAccessToken({ installation_id, permissions: { contents: 'read' } })
  expect(narrow.data.permissions).toEqual({ metadata: 'read', contents: 'read' })
  const reader = new Octokit({ baseUrl: env.github.url, auth: narrow.data.token })
  await expect(reader.rest.checks.create({ ...FLEET, name: 'x', head_sha: sha })).rejects.toMatchObject(denied)
  const more = asApp.createInstallationAccessToken({ installation_id, permissions: { administration: 'write' } })
  await expect(more).rejects.toMatchObject({ status: 422 })
})

test('repositories: an installation sees its own, a token only those it was made for', async () => {
  env.github.addRepository({ owner: 'acme', name: 'ops-team', files: { x: '1' } })
  env.github.addRepository({ owner: 'other', name: 'hidden', files: { x: '1' } })
  env.github.addRepository({ owner: 'other', name: 'open', files: { x: '1' }, private: false })
  const names = async (client: typeof env.app) =>
    (await client.paginate(client.rest.apps.listReposAccessibleToInstallation, { per_page: 1 })).map(each => each.name)
  expect(await names(env.app)).toEqual(['fleet', 'ops-team'])
  await expect(env.app.rest.repos.get({ owner: 'other', repo: 'hidden' })).rejects.toMatchObject({ status: 404 })
  const open = { owner: 'other', repo: 'open' }
  expect((await env.app.rest.repos.getContent({ ...open, path: 'x' })).status).toBe(200)
  await expect(env.app.rest.issues.create({ ...open, title: 'x' })).rejects.toMatchObject({ status: 403 })
  const one = { installation_id: env.installation.id, repositories: ['ops-team'] }
  const { data } = await env.app.rest.apps.createInstallationAccessToken(one)
  const only = new Octokit({ baseUrl: env.github.url, auth: data.token })
  expect((await only.rest.repos.get({ owner: 'acme', repo: 'ops-team' })).status).toBe(200)
  await expect(only.rest.repos.get(FLEET)).rejects.toMatchObject({ status: 404 })
  const unknown = env.app.rest.apps.createInstallationAccessToken({ ...one, repositories: ['hidden'] })
  await expect(unknown).rejects.toMatchObject({ status: 422 })
  const selected = env.github.addApp({ slug: 'selected' })
  const picky = clientOf(env.github, selected, env.github.install(selected, 'acme', ['ops-team']))
  expect(await names(picky as typeof env.app)).toEqual(['ops-team'])
})

test('roles: what people may do is told in both words of GitHub', async () => {
  env.github.setRole(NAME, 'dev', 'maintain')
  env.github.addUser('mallory')
  const of = async (username: string) => {
    const { data } = await env.app.rest.repos.getCollaboratorPermissionLevel({ ...FLEET, username })
    return [data.permission, data.role_name]
  }
  expect(await of('ada')).toEqual(['admin', 'admin'])
  expect(await of('dev')).toEqual(['write', 'maintain'])
  expect(await of('eve')).toEqual(['read', 'read'])
  expect(await of('mallory')).toEqual(['none', 'none'])
  await expect(of('nobody')).rejects.toMatchObject({ status: 404 })
  await expect(env.as('mallory').rest.repos.get(FLEET)).rejects.toMatchObject({ status: 404 })
  const sha = env.github.commitOf(NAME, 'main')
  const branch = env.as('eve').rest.git.createRef({ ...FLEET, ref: 'refs/heads/x', sha })
  await expect(branch).rejects.toMatchObject({ status: 403 })
})
