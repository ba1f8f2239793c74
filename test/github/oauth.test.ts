import { createHash } from 'node:crypto'
import { Octokit } from '@octokit/rest'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acme, FLEET } from '../../tools/github/acme.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme()
})
afterEach(async () => {
  vi.useRealTimers()
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  expect(env.github.unknown).toEqual([])
  await env.github.close()
})

const CALLBACK = 'http://127.0.0.1:1/callback'
const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

/** The address that our web process would send a browser to. */
const authorizeUrl = (more: Record<string, string> = {}) => {
  const query = { client_id: env.github.app.clientId, redirect_uri: CALLBACK, state: 'st', ...more }
  return `/login/oauth/authorize?${new URLSearchParams(query)}`
}

async function codeFor(login: string, more: Record<string, string> = {}) {
  const to = new URL(await env.github.signIn({ login, url: authorizeUrl(more) }))
  expect(to.searchParams.get('state')).toBe('st')
  return to.searchParams.get('code') ?? ''
}

async function exchange(more: Record<string, string>) {
  const { clientId: client_id, clientSecret: client_secret } = env.github.app
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const body = JSON.stringify({ client_id, client_secret, ...more })
  const answer = await fetch(`${env.github.url}/login/oauth/access_token`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { access_token: string; refresh_token: string }
}

test('a person signs in, and the app reads as they do where it is installed', async () => {
  env.github.addRepository({ owner: 'acme', name: 'secret', files: { x: '1' }, roles: {} })
  env.github.addRepository({ owner: 'other', name: 'away', files: { x: '1' }, roles: { dev: 'write' } })
  const token = await exchange({ code: await codeFor('dev'), redirect_uri: CALLBACK })
  expect(token).toMatchObject({ expires_in: 28_800, token_type: 'bearer', scope: '' })
  const dev = new Octokit({ baseUrl: env.github.url, auth: token.access_token })
  expect((await dev.rest.users.getAuthenticated()).data.login).toBe('dev')
  expect((await dev.rest.repos.get(FLEET)).data.full_name).toBe('acme/fleet')
  for (const away of [
    { owner: 'acme', repo: 'secret' },
    { owner: 'other', repo: 'away' },
  ]) {
    await expect(dev.rest.repos.get(away)).rejects.toMatchObject({ status: 404 })
  }
  const { data } = await dev.rest.apps.listInstallationsForAuthenticatedUser()
  expect(data.installations.map(each => each.id)).toEqual([env.installation.id])
  const mine = { installation_id: env.installation.id }
  const repositories = (await dev.rest.apps.listInstallationReposForAuthenticatedUser(mine)).data.repositories
  expect(repositories.map(each => [each.name, each.permissions?.push])).toEqual([['fleet', true]])
  const comment = await dev.rest.issues.create({ ...FLEET, title: 'x' })
  expect(comment.data).toMatchObject({ user: { login: 'dev' }, performed_via_github_app: { slug: 'bailiwick' } })
  await expect(dev.rest.checks.create({ ...FLEET, name: 'x', head_sha: 'x' })).rejects.toMatchObject({ status: 403 })
})

test('a code works once, for its app, with its verifier, and not after ten minutes', async () => {
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const bad = { error: 'bad_verification_code' }
  const code = await codeFor('dev', pkce)
  expect(await exchange({ code, code_verifier: verifier })).toHaveProperty('access_token')
  expect(await exchange({ code, code_verifier: verifier })).toMatchObject(bad)
  expect(await exchange({ code: await codeFor('dev', pkce), code_verifier: 'w'.repeat(43) })).toMatchObject(bad)
  expect(await exchange({ code: await codeFor('dev', pkce) })).toMatchObject(bad)
  expect(await exchange({ code: await codeFor('dev'), redirect_uri: 'http://127.0.0.1:1/x' })).toMatchObject({
    error: 'redirect_uri_mismatch',
  })
  const wrong = { error: 'incorrect_client_credentials' }
  expect(await exchange({ code: await codeFor('dev'), client_secret: 'x' })).toMatchObject(wrong)
  const late = await codeFor('dev')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 })
  expect(await exchange({ code: late })).toMatchObject(bad)
})

test('who is not signed in sees a page, an unknown client nothing, a strange callback is refused', async () => {
  const open = (path: string) => fetch(env.github.url + path, { redirect: 'manual' })
  expect((await open(authorizeUrl())).status).toBe(200)
  expect((await open(authorizeUrl({ client_id: 'x' }))).status).toBe(404)
  env.github.signIn('dev')
  expect((await open(authorizeUrl())).headers.get('location')).toMatch(/^http:\/\/127.0.0.1:1\/callback\?code=/)
  env.github.signIn(null)
  expect((await open(authorizeUrl())).status).toBe(200)
  const strict = env.github.addApp({ slug: 'strict', callbackUrls: ['http://127.0.0.1:1/callback'] })
  const evil = { client_id: strict.clientId, redirect_uri: 'http://127.0.0.1:2/callback' }
  const to = new URL(await env.github.signIn({ login: 'dev', url: authorizeUrl(evil) }))
  expect([to.host, to.searchParams.get('error')]).toEqual(['127.0.0.1:1', 'redirect_uri_mismatch'])
})

test('a token ends after eight hours, is renewed once, and is revoked by the app', async () => {
  const first = await exchange({ code: await codeFor('dev') })
  const status = async (token: string) =>
    (await fetch(`${env.github.url}/user`, { headers: { authorization: `Bearer ${token}` } })).status
  const renew = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
  const second = await exchange(renew)
  expect([await status(first.access_token), await status(second.access_token)]).toEqual([401, 200])
  expect(await exchange(renew)).toMatchObject({ error: 'bad_refresh_token' })
  const { clientId, clientSecret } = env.github.app
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const body = JSON.stringify({ access_token: second.access_token })
  const revoke = () =>
    fetch(`${env.github.url}/applications/${clientId}/token`, { method: 'DELETE', headers: { authorization }, body })
  expect([(await revoke()).status, (await revoke()).status]).toEqual([204, 404])
  expect(await status(second.access_token)).toBe(401)
  const third = await exchange({ code: await codeFor('dev') })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 28_801_000 })
  expect(await status(third.access_token)).toBe(401)
})

test('a manifest makes an app, whose secrets are handed out once', async () => {
  const manifest = {
    ...{ name: 'Bailiwick of acme', url: 'https://bailiwick.example.com', redirect_url: 'http://127.0.0.1:1/made' },
    hook_attributes: { url: 'http://127.0.0.1:1/hook' },
    ...{ default_permissions: { contents: 'write' }, default_events: ['push'], public: false },
  }
  const post = (path: string, login: string, what: object) => {
    const body = new URLSearchParams({ manifest: JSON.stringify(what) })
    return fetch(env.github.url + path, { method: 'POST', body, redirect: 'manual', headers: { 'x-login': login } })
  }
  const form = '/organizations/acme/settings/apps/new?state=s'
  expect((await post(form, 'dev', manifest)).status).toBe(404)
  expect((await post(form, 'ada', { ...manifest, name: 'x'.repeat(35) })).status).toBe(422)
  const to = new URL((await post(form, 'ada', manifest)).headers.get('location') ?? '')
  expect(to.searchParams.get('state')).toBe('s')
  const code = to.searchParams.get('code') ?? ''
  const anybody = new Octokit({ baseUrl: env.github.url })
  const { data } = await anybody.rest.apps.createFromManifest({ code })
  expect(data).toMatchObject({ slug: 'bailiwick-of-acme', events: ['push'], owner: { login: 'acme' } })
  expect(data.pem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/)
  expect(data.client_secret).toMatch(/^[0-9a-f]{40}$/)
  await expect(anybody.rest.apps.createFromManifest({ code })).rejects.toMatchObject({ status: 404 })
  expect((await post('/settings/apps/new', 'ada', manifest)).status).toBe(422)
})
