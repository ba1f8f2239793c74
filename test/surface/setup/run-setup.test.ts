import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { openApp } from '../../../src/github/client/app.ts'
import { runSetup } from '../../../src/surface/setup/run-setup.ts'
import type { SetupSite } from '../../../src/surface/setup/serve-setup.ts'
import { type FakeGitHub, startGitHub } from '../../../tools/github/start.ts'
import { followForm } from './follow-form.ts'

let github: FakeGitHub
let directory: string
let site: SetupSite | undefined
const said: string[] = []

beforeEach(async () => {
  github = await startGitHub({ checkResponses: true })
  github.addOrganization('acme', { admins: ['ada'], members: ['mallory'] })
  await github.signIn('ada')
  directory = mkdtempSync(join(tmpdir(), 'bailiwick-setup-'))
  said.length = 0
})
afterEach(async () => {
  await site?.close()
  site = undefined
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
  await github.close()
  rmSync(directory, { recursive: true, force: true })
})

const URL_ARGS = ['--url', 'https://bailiwick.acme.dev', '--name', 'Gate of acme']
/** With the files of the test, where it names no others. */
const withFiles = (args: readonly string[]) => [
  ...(args.includes('--env') ? [] : ['--env', join(directory, '.env')]),
  ...(args.includes('--key') ? [] : ['--key', join(directory, 'app.pem')]),
  ...args,
]
const start = async (...args: string[]) => {
  const env = { GITHUB_API_URL: github.url }
  site = await runSetup(withFiles(args), { env, say: line => said.push(line) })
  return site
}

const conversions = () => github.requests.filter(({ route }) => route === '/app-manifests/{code}/conversions').length

test('the form takes the manifest to GitHub, and the way back writes settings that the App starts with', async () => {
  const { url, done } = await start(...URL_ARGS)
  const form = await followForm(url)
  expect(form.manifest).toMatchObject({
    ...{ name: 'Gate of acme', url: 'https://bailiwick.acme.dev', public: false },
    hook_attributes: { url: 'https://bailiwick.acme.dev/api/github/webhooks', active: true },
    callback_urls: ['https://bailiwick.acme.dev/login/callback'],
    redirect_url: `${url}callback`,
    default_permissions: { checks: 'write', administration: 'read' },
  })
  const back = await fetch(await form.send())
  expect([back.status, await back.text()]).toEqual([200, expect.stringContaining('/installations/new')])
  await done
  const env = parseEnv(readFileSync(join(directory, '.env'), 'utf8'))
  const config = readConfig(env)
  const app = [...github.world.apps.values()].find(({ id }) => id === config.appId)
  expect(config.webhookSecret).toBe(app?.webhookSecret)
  expect(env).toMatchObject({ CLIENT_ID: app?.clientId, PUBLIC_URL: 'https://bailiwick.acme.dev' })
  for (const name of ['.env', 'app.pem']) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600)
  const opened = openApp({ appId: config.appId, privateKey: config.privateKey, baseUrl: config.githubApiUrl })
  expect(await opened.identity()).toEqual({ id: app?.id, slug: app?.slug })
  expect(app?.permissions).toMatchObject({ administration: 'read', checks: 'write' })
  expect(said.join('\n')).not.toContain(config.webhookSecret)
  expect(said.join('\n')).toContain('/installations/new')
})

test('a gate only is registered without a write permission to contents, and writes no trail', async () => {
  const { url, done } = await start(...URL_ARGS, '--gate-only')
  const form = await followForm(url)
  expect(form.manifest).toMatchObject({ default_permissions: { checks: 'write', contents: 'read' } })
  await fetch(await form.send())
  await done
  const env = parseEnv(readFileSync(join(directory, '.env'), 'utf8'))
  expect(readConfig(env).trail).toBe(false)
  const app = [...github.world.apps.values()].find(({ id }) => String(id) === env.APP_ID)
  expect(app?.permissions).toMatchObject({ checks: 'write', contents: 'read' })
  expect(said.join('\n')).toContain('grant "Contents: write"')
})

test('an organisation has a page of its own, for those who own it', async () => {
  const { url, done } = await start(...URL_ARGS.slice(0, 2), '--organization', 'acme')
  const form = await followForm(url)
  expect(form.action.pathname).toBe('/organizations/acme/settings/apps/new')
  expect(form.manifest.name).toBe('Bailiwick acme')
  await github.signIn('mallory')
  await expect(form.send()).rejects.toThrow('GitHub answered 404')
  await github.signIn('ada')
  expect((await fetch(await form.send())).status).toBe(200)
  await done
  expect([...github.world.apps.values()].at(-1)?.owner.login).toBe('acme')
})

describe('the way back', () => {
  test.each<[string, (back: URL) => void]>([
    ['another state', back => back.searchParams.set('state', `${back.searchParams.get('state')?.slice(1)}A`)],
    ['no state', back => back.searchParams.delete('state')],
    ['no code', back => back.searchParams.delete('code')],
    ['a code that is a path', back => back.searchParams.set('code', '../user')],
  ])('%s is refused, and the right one still counts', async (_name, forge) => {
    const { url, done } = await start(...URL_ARGS)
    const back = await (await followForm(url)).send()
    const forged = new URL(back)
    forge(forged)
    expect((await fetch(forged)).status).toBe(403)
    expect(conversions()).toBe(0)
    expect((await fetch(back)).status).toBe(200)
    await done
  })

  test('it works once', async () => {
    const { url, done } = await start(...URL_ARGS)
    const back = await (await followForm(url)).send()
    const answers = await Promise.all([fetch(back), fetch(back), fetch(back)])
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 403, 403])
    await done
    expect(conversions()).toBe(1)
  })

  test('a GitHub that fails is asked once, and nothing is written', async () => {
    const { url, done } = await start(...URL_ARGS)
    const back = await (await followForm(url)).send()
    github.failNext(1, 502, {}, ({ path }) => path.startsWith('/app-manifests/'))
    expect((await fetch(back)).status).toBe(502)
    await expect(done).rejects.toMatchObject({ code: 'github-unavailable' })
    expect(existsSync(join(directory, '.env'))).toBe(false)
  })

  test('a code that GitHub does not know writes nothing', async () => {
    const { url, done } = await start(...URL_ARGS)
    const back = await (await followForm(url)).send()
    back.searchParams.set('code', 'a'.repeat(40))
    expect((await fetch(back)).status).toBe(502)
    await expect(done).rejects.toMatchObject({ code: 'git-missing' })
    expect(existsSync(join(directory, '.env'))).toBe(false)
  })
})

test('the page is for this machine only: another name of the address, another method, another page', async () => {
  const { url } = await start(...URL_ARGS)
  const port = new URL(url).port
  expect((await fetch(`http://localhost:${port}/`).catch(() => ({ status: 421 }))).status).toBe(421)
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${url}probot/import`)).status).toBe(404)
  const headers = (await fetch(url)).headers
  expect(headers.get('content-security-policy')).toContain(`form-action ${github.url}`)
  expect(headers.get('cache-control')).toBe('no-store')
})

describe('the folder of a file', () => {
  test('is made, since the answer of GitHub comes only once', async () => {
    const key = join(directory, 'config/app.pem')
    const { url, done } = await start(...URL_ARGS, '--key', key)
    expect((await fetch(await (await followForm(url)).send())).status).toBe(200)
    await done
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(parseEnv(readFileSync(join(directory, '.env'), 'utf8')).PRIVATE_KEY_PATH).toBe(key)
  })

  test.each(['--key', '--env'])('that cannot be one is refused before GitHub is asked: %s', async option => {
    writeFileSync(join(directory, 'file'), '')
    const path = join(directory, 'file/app')
    await expect(start(...URL_ARGS, option, path)).rejects.toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(`${path} cannot be written (`) },
      fix: 'Name a file in a folder that you can write to.',
    })
    expect(site).toBeUndefined()
  })
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
    await fetch(await (await followForm(url)).send())
    await done
    const env = parseEnv(readFileSync(join(directory, '.env'), 'utf8'))
    expect(env).toMatchObject({ APP_ID: expect.stringMatching(/^\d{2,}$/), REDIS_URL: 'redis://here' })
    expect(env.PRIVATE_KEY).toBeUndefined()
    expect(statSync(join(directory, '.env')).mode & 0o777).toBe(0o600)
  })
})

describe('is refused', () => {
  const refused = (args: string[], env: Record<string, string> = {}) =>
    runSetup(withFiles(args), { env: { GITHUB_API_URL: github.url, ...env }, say: () => {} })

  test('in production', () =>
    expect(refused(URL_ARGS, { NODE_ENV: 'production' })).rejects.toMatchObject({ code: 'config' }))
  test('without an address', () =>
    expect(refused([])).rejects.toMatchObject({ code: 'config', fix: expect.stringContaining('--url') }))
  test.each([
    [['--url', 'http://bailiwick.acme.dev']],
    [['--url', 'https://user@bailiwick.acme.dev']],
    [[...URL_ARGS, '--organization', '../user']],
    [[...URL_ARGS, '--port', '70000']],
    [[...URL_ARGS.slice(0, 2), '--name', 'a\nb']],
    [[...URL_ARGS, '--smee']],
  ])('%j', args => expect(refused(args)).rejects.toMatchObject({ code: 'usage' }))
})

test.each([
  'https://bailiwick.example.com',
  'https://bailiwick.your.domain',
  'https://bailiwick.example',
  'https://localhost:3000',
  'https://EXAMPLE.org./hooks',
])('an address of an example is named, not taken: %s', async address => {
  await expect(start('--url', address)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(JSON.stringify(address)),
    fix: 'Use the public https:// address of your web process.',
  })
  expect(site).toBeUndefined()
})

test('a domain that only ends like an example is taken', async () => {
  await start('--url', 'https://bailiwick.myexample.com')
  expect(site?.url).toContain('127.0.0.1')
})
