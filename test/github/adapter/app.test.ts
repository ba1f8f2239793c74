import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openApp } from '../../../src/github/client/app.ts'
import { GITHUB_PACE, LOOPBACK_PACE } from '../../../src/github/client/client-class.ts'
import { listRepositories } from '../../../src/github/contents/repositories.ts'
import { type Answerer, rawGitHub } from './raw-github.ts'

type AppOptions = Parameters<typeof openApp>[0]

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const installation = (id: number, login: string, suspended = false) => ({
  id,
  account: { login, type: 'Organization' },
  suspended_at: suspended ? '2026-01-01T00:00:00Z' : null,
})
const REPOSITORY = {
  id: 5,
  name: 'fleet',
  owner: { login: 'acme' },
  html_url: 'https://github.com/Acme/Fleet',
  default_branch: 'main',
  archived: false,
  private: false,
}

interface Seen {
  readonly tokens: unknown[]
  failures: number
}

async function open(options: Partial<AppOptions> = {}, answers: Answerer = () => undefined) {
  const seen: Seen = { tokens: [], failures: 0 }
  const host = await rawGitHub((method, path, query, body) => {
    const special = answers(method, path, query, body)
    if (special) return special
    if (path.endsWith('/access_tokens')) {
      seen.tokens.push(body ? JSON.parse(body) : {})
      return {
        status: 201,
        body: { token: `ghs_${seen.tokens.length}`, expires_at: '2099-01-01T00:00:00Z', permissions: {} },
      }
    }
    if (path === '/app') return { body: { id: 7, slug: 'bailiwick' } }
    if (path === '/app/installations/1') return { body: installation(1, 'Acme') }
    if (path === '/app/installations/2') return { body: installation(2, 'evil') }
    if (path === '/app/installations')
      return { body: [installation(1, 'Acme'), installation(2, 'evil'), installation(3, 'acme', true)] }
    if (path === '/repos/evil/fleet/installation') return { body: installation(2, 'evil') }
    if (path === '/repos/acme/fleet/installation') return { body: installation(1, 'Acme') }
    if (path === '/installation/repositories') return { body: { total_count: 1, repositories: [REPOSITORY] } }
    return undefined
  })
  const app = openApp({
    appId: 7,
    privateKey,
    baseUrl: `${host.url}/`,
    pace: LOOPBACK_PACE,
    readRetries: 0,
    ...options,
  })
  return { app, seen, host }
}

describe('openApp', () => {
  test('asks once who it is, and for one token per installation', async () => {
    const { app, seen, host } = await open()
    expect(await app.identity()).toEqual({ id: 7, slug: 'bailiwick' })
    await app.identity()
    const client = await app.client(1)
    const expected = {
      id: 5,
      owner: 'acme',
      repo: 'fleet',
      url: 'https://github.com/acme/fleet',
      defaultBranch: 'main',
      archived: false,
      createdAt: '',
      visibility: 'public',
    }
    expect(await listRepositories(client)).toEqual([expected])
    await listRepositories(client)
    await listRepositories(await app.client(1))
    expect(seen.tokens).toEqual([{}])
    expect(host.requests.filter(request => request === 'GET /app')).toHaveLength(1)
  })

  test('narrows a token to repositories', async () => {
    const { app, seen } = await open()
    const client = await app.client(1, [5])
    await listRepositories(client)
    await listRepositories(client)
    await listRepositories(await app.client(1, [5]))
    expect(seen.tokens).toEqual([{ repository_ids: [5] }])
  })

  test('reads with a token that may not write, of what the installation was granted', async () => {
    const permissions = { metadata: 'read', contents: 'write', checks: 'write', workflows: 'write' }
    const one = { ...installation(1, 'Acme'), permissions }
    const { app, seen, host } = await open({}, (_, path) =>
      path === '/app/installations/1' ? { body: one } : undefined,
    )
    await listRepositories(await app.reader(1))
    await listRepositories(await app.reader(1))
    expect(seen.tokens).toEqual([{ permissions: { metadata: 'read', contents: 'read', checks: 'read' } }])
    expect(host.requests.filter(request => request === 'GET /app/installations/1')).toHaveLength(1)
  })

  test('serves allowed accounts only, by the word of GitHub, in any case, whole names', async () => {
    const { app, host } = await open({ allowedAccounts: ['ACME'] })
    expect(await app.installations()).toEqual([{ id: 1, account: 'Acme' }])
    await app.client(1)
    await expect(app.client(2)).rejects.toMatchObject({ code: 'not-permitted' })
    await expect(app.reader(2)).rejects.toMatchObject({ code: 'not-permitted' })
    await expect(app.client(9)).rejects.toMatchObject({ code: 'git-missing' })
    expect(await app.installationOf({ owner: 'acme', repo: 'fleet' })).toEqual({ id: 1, account: 'Acme' })
    await expect(app.installationOf({ owner: 'evil', repo: 'fleet' })).rejects.toMatchObject({ code: 'not-permitted' })
    expect(await app.installationOf({ owner: 'acme', repo: 'gone' })).toBeUndefined()
    // the list has said who installation 1 is
    expect(host.requests).not.toContain('GET /app/installations/1')
  })

  test('repeats a read after a 502, never a write, and neither after a limit', async () => {
    let failing = 0
    const { app, host } = await open({ readRetries: 1 }, (method, path) => {
      if (path === '/installation/repositories' && failing-- > 0)
        return { status: 502, body: { message: 'Bad Gateway' } }
      if (method === 'POST' && path.endsWith('/issues')) return { status: 502, body: { message: 'Bad Gateway' } }
      if (path.endsWith('/readme'))
        return { status: 429, headers: { 'retry-after': '7' }, body: { message: 'slow down' } }
      return undefined
    })
    const client = await app.client(1)
    failing = 1
    expect(await listRepositories(client)).toHaveLength(1)
    await expect(client.rest.issues.create({ owner: 'acme', repo: 'fleet', title: 'x' })).rejects.toThrow()
    await expect(client.rest.repos.getReadme({ owner: 'acme', repo: 'fleet' })).rejects.toThrow()
    expect(host.requests.filter(request => request.includes('/installation/repositories'))).toHaveLength(2)
    expect(host.requests.filter(request => request.endsWith('/issues'))).toHaveLength(1)
    expect(host.requests.filter(request => request.endsWith('/readme'))).toHaveLength(1)
  })

  test('surfaces a secondary limit with the time to wait even with throttling on', async () => {
    const { app } = await open({ pace: GITHUB_PACE }, (_, path) =>
      path === '/installation/repositories'
        ? {
            status: 403,
            headers: { 'retry-after': '30' },
            body: { message: 'You have exceeded a secondary rate limit' },
          }
        : undefined,
    )
    const reading = listRepositories(await app.client(1))
    await expect(reading).rejects.toMatchObject({ code: 'github-unavailable', retryAfter: 30 })
  })

  test('gives up on a server that does not answer', async () => {
    const host = await import('node:net').then(
      net =>
        new Promise<import('node:net').Server>(done => {
          const server = net.createServer(() => {}).listen(0, '127.0.0.1', () => done(server))
        }),
    )
    const { port } = host.address() as { port: number }
    const app = openApp({
      appId: 7,
      privateKey,
      baseUrl: `http://127.0.0.1:${port}`,
      readRetries: 0,
      timeoutMs: 100,
      pace: LOOPBACK_PACE,
    })
    await expect(app.identity()).rejects.toMatchObject({ code: 'github-unavailable' })
    host.close()
  })
})
