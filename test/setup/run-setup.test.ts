import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { runSetup } from '../../src/setup/run-setup.ts'
import type { SetupSite } from '../../src/setup/serve-setup.ts'
import { followForm } from './follow-form.ts'

const { privateKey: pem } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const APP = {
  ...{
    id: 4711,
    slug: 'acme-bailiwick',
    client_id: 'Iv23abc',
    client_secret: 'c'.repeat(40),
    webhook_secret: 'w'.repeat(40),
  },
  ...{ html_url: 'https://github.com/apps/acme-bailiwick', pem, name: 'Acme Bailiwick' },
}

/** GitHub's side of the manifest flow: the page for a new App leads back with a code that works once. */
let github: Server
let api: string
let conversions: string[] = []
let failing = false
let directory: string
let site: SetupSite | undefined
const said: string[] = []

beforeAll(async () => {
  github = createServer((request, response) => {
    const code = /^\/app-manifests\/([^/]+)\/conversions$/.exec(request.url ?? '')?.[1] ?? ''
    const fresh = request.method === 'POST' && code === 'code-1' && !conversions.includes(code)
    expect(request.headers.authorization).toBeUndefined()
    conversions.push(code)
    response.writeHead(failing ? 502 : fresh ? 201 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(fresh && !failing ? APP : { message: 'Not Found' }))
  })
  await new Promise<void>(resolve => github.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(github.address() as AddressInfo).port}`
})
afterAll(() => new Promise(resolve => github.close(resolve)))

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'))
  conversions = []
  failing = false
  said.length = 0
})
afterEach(async () => {
  await site?.close()
  site = undefined
  rmSync(directory, { recursive: true, force: true })
})

const URL_ARGS = ['--url', 'https://bailiwick.acme.dev']
const files = () => ['--env', join(directory, '.env'), '--key', join(directory, 'app.pem')]
const start = async (...args: string[]) => {
  const env = { GITHUB_API_URL: api }
  site = await runSetup([...files(), ...args], { env, say: line => said.push(line) })
  return site
}

test('the form takes the manifest to GitHub, and the way back writes settings that the App starts with', async () => {
  const { url, done } = await start(...URL_ARGS)
  const form = await followForm(url)
  expect(form.action.origin + form.action.pathname).toBe(`${api}/settings/apps/new`)
  expect(form.manifest).toMatchObject({
    ...{ name: 'Bailiwick', url: 'https://bailiwick.acme.dev', public: false },
    hook_attributes: { url: 'https://bailiwick.acme.dev/api/github/webhooks', active: true },
    callback_urls: ['https://bailiwick.acme.dev/login/callback'],
    redirect_url: `${url}callback`,
    default_permissions: { checks: 'write', administration: 'read' },
  })
  const state = form.action.searchParams.get('state')
  const back = await fetch(`${url}callback?code=code-1&state=${state}`)
  expect([back.status, await back.text()]).toEqual([
    200,
    expect.stringContaining('/apps/acme-bailiwick/installations/new'),
  ])
  await done
  const env = parseEnv(readFileSync(join(directory, '.env'), 'utf8'))
  const config = readConfig(env)
  expect(config).toMatchObject({ appId: 4711, githubApiUrl: api })
  expect(config.webhookSecret).toBe(APP.webhook_secret)
  expect(env).toMatchObject({ CLIENT_ID: 'Iv23abc', PUBLIC_URL: 'https://bailiwick.acme.dev' })
  for (const name of ['.env', 'app.pem']) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600)
  expect(readFileSync(join(directory, 'app.pem'), 'utf8')).toBe(pem)
  expect(said.join('\n')).not.toContain(APP.webhook_secret)
  expect(said.join('\n')).toContain('installations/new')
})

test('an organisation has a page of its own', async () => {
  const { url } = await start(...URL_ARGS, '--organization', 'acme', '--name', 'Acme <Gate>')
  const form = await followForm(url)
  expect(form.action.pathname).toBe('/organizations/acme/settings/apps/new')
  expect(form.manifest.name).toBe('Acme <Gate>')
})

describe('the way back', () => {
  test.each([
    ['another state', (state: string) => `code=code-1&state=${state.slice(1)}A`],
    ['no state', () => 'code=code-1'],
    ['no code', (state: string) => `state=${state}`],
    ['a code that is a path', (state: string) => `code=..%2Fuser&state=${state}`],
  ])('%s is refused, and the right one still counts', async (_name, query) => {
    const { url, done } = await start(...URL_ARGS)
    const state = (await followForm(url)).action.searchParams.get('state') ?? ''
    expect((await fetch(`${url}callback?${query(state)}`)).status).toBe(403)
    expect(conversions).toEqual([])
    expect((await fetch(`${url}callback?code=code-1&state=${state}`)).status).toBe(200)
    await done
  })

  test('it works once', async () => {
    const { url, done } = await start(...URL_ARGS)
    const state = (await followForm(url)).action.searchParams.get('state')
    const back = `${url}callback?code=code-1&state=${state}`
    const answers = await Promise.all([fetch(back), fetch(back), fetch(back)])
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 403, 403])
    await done
    expect(conversions).toEqual(['code-1'])
  })

  test('a code that GitHub does not know, or a GitHub that fails, writes nothing', async () => {
    const { url, done } = await start(...URL_ARGS)
    const state = (await followForm(url)).action.searchParams.get('state')
    failing = true
    const answer = await fetch(`${url}callback?code=code-1&state=${state}`)
    expect(answer.status).toBe(502)
    await expect(done).rejects.toMatchObject({ code: 'github-unavailable' })
    expect(existsSync(join(directory, '.env'))).toBe(false)
    expect(conversions).toEqual(['code-1'])
  })
})

test('the page is for this machine only: another name of the address, another method, another page', async () => {
  const { url } = await start(...URL_ARGS)
  const port = new URL(url).port
  expect((await fetch(`http://localhost:${port}/`).catch(() => ({ status: 421 }))).status).toBe(421)
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${url}probot/import`)).status).toBe(404)
  const headers = (await fetch(url)).headers
  expect(headers.get('content-security-policy')).toContain(`form-action ${api}`)
  expect(headers.get('cache-control')).toBe('no-store')
})

describe('files that are there', () => {
  test('are not replaced without --force, and GitHub is not asked', async () => {
    writeFileSync(join(directory, '.env'), 'APP_ID=1\n')
    await expect(start(...URL_ARGS)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining('.env') })
    expect(readFileSync(join(directory, '.env'), 'utf8')).toBe('APP_ID=1\n')
  })

  test('with --force what is about the App is replaced, the rest stays', async () => {
    writeFileSync(join(directory, '.env'), 'APP_ID=1\nREDIS_URL=redis://here\nPRIVATE_KEY=old\n', { mode: 0o644 })
    const { url, done } = await start(...URL_ARGS, '--force')
    const state = (await followForm(url)).action.searchParams.get('state')
    await fetch(`${url}callback?code=code-1&state=${state}`)
    await done
    const env = parseEnv(readFileSync(join(directory, '.env'), 'utf8'))
    expect(env).toMatchObject({ APP_ID: '4711', REDIS_URL: 'redis://here' })
    expect(env.PRIVATE_KEY).toBeUndefined()
    expect(statSync(join(directory, '.env')).mode & 0o777).toBe(0o600)
  })
})

describe('is refused', () => {
  const refused = (args: string[], env: Record<string, string> = {}) =>
    runSetup([...files(), ...args], { env: { GITHUB_API_URL: api, ...env }, say: () => {} })

  test('in production', () =>
    expect(refused(URL_ARGS, { NODE_ENV: 'production' })).rejects.toMatchObject({ code: 'config' }))
  test('without an address', () =>
    expect(refused([])).rejects.toMatchObject({ code: 'config', fix: expect.stringContaining('--url') }))
  test.each([
    [['--url', 'http://bailiwick.acme.dev']],
    [['--url', 'https://user@bailiwick.acme.dev']],
    [[...URL_ARGS, '--organization', '../user']],
    [[...URL_ARGS, '--port', '70000']],
    [[...URL_ARGS, '--name', 'a\nb']],
    [[...URL_ARGS, '--smee']],
  ])('%j', args => expect(refused(args)).rejects.toMatchObject({ code: 'usage' }))
})
