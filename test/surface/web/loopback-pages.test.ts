import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { openSitePages } from '../../../src/start-site.ts'
import { PAGE_LIMITS, PageStore } from '../../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { Pages } from '../../../src/surface/web/pages.ts'
import { startServer, type WebServer } from '../../../src/surface/web/server.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { environment } from '../config/environment-of.ts'
import { SHA, sampleFleet, samplePage } from './sample-pages.ts'

const servers: WebServer[] = []
const PATH = `/checks/acme/fleet/${SHA}`
let here: WebServer

async function open(settings: Record<string, string>): Promise<WebServer> {
  const store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
  await store.keep(samplePage())
  await store.keep(sampleFleet())
  const { pages } = openSitePages(readConfig(environment(settings)), {
    store,
    queueDepths: async () => [],
    log: silentLog,
  })
  const metrics = { token: 'a-token-of-the-tests', render: async () => ({ type: 'text/plain', text: 'up 1\n' }) }
  const log = silentLog
  const server = await startServer({ host: '127.0.0.1', port: 0, pages, metrics, ready: async () => undefined, log })
  servers.push(server)
  return server
}

/** Not fetch: it does not let a test choose the Host. */
function get(server: WebServer, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const call = request({ hostname, port, path, headers, method }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
    })
    call.on('error', reject).end()
  })
}

beforeAll(async () => {
  here = await open({ PUBLIC_URL: 'http://127.0.0.1:3000' })
})
afterAll(() => Promise.all(servers.map(server => server.close(100))))

describe('without sign-in there are pages for this machine only', () => {
  test.each([
    PATH,
    '/fleets/acme/fleet',
    '/fleets/acme/fleet?namespace=apps',
    '/',
    PATH.replace('acme/fleet', 'ACME/Fleet'),
  ])('%s', async path => {
    const { status, text } = await get(here, path)
    expect(status).toBe(200)
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  })

  test.each<[string, Record<string, string>]>([
    ['a name that somebody else resolves to here', { host: 'rebind.evil.example' }],
    ['the same with our port', { host: 'rebind.evil.example:3000' }],
    ['a name that only looks like it', { host: 'localhost.evil.example' }],
    ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['another proxy', { forwarded: 'for=203.0.113.7' }],
    ['a third one', { via: '1.1 proxy' }],
  ])('not for %s', async (_, headers) => {
    const hidden = await get(here, PATH, headers)
    expect([hidden.status, hidden.text]).toEqual([404, 'not found\n'])
  })

  test.each<[string, Record<string, string>]>([
    ['nothing says that people come by loopback: a proxy might', {}],
    ['they come from the internet', { PUBLIC_URL: 'https://bailiwick.example.com' }],
    ['it listens to everybody', { HOST: '0.0.0.0', PUBLIC_URL: 'http://127.0.0.1:3000' }],
  ])('not where %s', async (_, settings) => {
    const server = await open(settings)
    for (const path of [PATH, '/', '/login']) {
      const { status, text } = await get(server, path)
      expect(status, path).toBe(404)
      expect(text).toContain('Sign-in is not configured')
      expect(text, 'the same for every address').toBe((await get(server, '/fleets/acme/other')).text)
    }
    expect((await get(server, '/healthz')).status).toBe(200)
  })

  test('in a rehearsal, where GitHub is on this machine', async () => {
    expect((await get(await open({ GITHUB_API_URL: 'http://127.0.0.1:1' }), PATH)).status).toBe(200)
  })
})

describe('what is not there', () => {
  test.each([`/checks/acme/fleet/${'b'.repeat(40)}`, `/checks/acme/other/${SHA}`, '/fleets/acme/other'])(
    '%s says how a page comes about',
    async path => {
      const { status, text } = await get(here, path)
      expect(status).toBe(404)
      expect(text).toContain('Re-evaluate')
      expect(text).not.toContain(path)
    },
  )

  test.each([
    ...['/checks', '/checks/acme', '/checks/acme/fleet', '/checks/acme/fleet/main', `/checks/acme/../${SHA}`],
    ...[
      `${PATH}/more`,
      `/checks/acme/%2e%2e/${SHA}`,
      '/fleets/acme/fleet/x',
      '/fleets/acme/fleet/graph/x',
      '/fleets//fleet',
      '/checks/__proto__/x/y',
    ],
    // development routes of Probot and others
    ...['/probot', '/probot/setup', '/probot/import', '/probot/stats', '/probot/static/style.css', '/admin/queues'],
    ...[
      '/queues',
      '/ping',
      '/.env',
      '/favicon.ico',
      '/login',
      '/login/callback',
      '/logout',
      '/node_modules/x',
      '/docs',
      '/rules',
      '/errors',
      '/checks/acme%2ffleet/x',
      '/CHECKS/acme/fleet/x',
    ],
  ])('%s is nothing', async path => {
    expect((await get(here, path)).status).toBe(404)
  })

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is no way to see a page', async method => {
    for (const path of [PATH, '/', '/fleets/acme/none']) {
      const { status, headers, text } = await get(here, path, {}, method)
      expect([status, headers.allow, text], path).toEqual([405, 'GET, HEAD', 'only GET and HEAD\n'])
    }
    expect((await get(here, '/logout', {}, method)).status).toBe(404)
  })

  test.each(['//', '//:x/'])('%s is no address', async path => {
    expect(await get(here, path)).toMatchObject({ status: 400, text: 'bad request\n' })
  })
})

describe('a browser gets a page, also where there is none', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const isPage = (text: string, title: string) => {
    expect(text).toMatch(/^<!doctype html>/)
    expect(text).toContain(`<h1 class="page">${title}</h1>`)
  }

  test('404, the same for what is missing, forbidden or no address of ours', async () => {
    const missing = await get(here, '/fleets/acme/none', BROWSER)
    expect(missing.status).toBe(404)
    isPage(missing.text, 'Page not found')
    const closed = await open({ HOST: '0.0.0.0', PUBLIC_URL: 'http://127.0.0.1:3000' })
    const others = [
      await get(here, '/nothing', BROWSER),
      await get(here, '/.env', BROWSER),
      await get(closed, '/nothing', BROWSER),
    ]
    for (const { status, text } of others) expect([status, text]).toEqual([404, missing.text])
    const off = await get(closed, PATH, BROWSER)
    isPage(off.text, 'Sign-in is not configured')
    expect(await get(closed, '/fleets/acme/none', BROWSER)).toMatchObject({ status: 404, text: off.text })
  })

  test.each<[number, string, string, string]>([
    [400, 'GET', '//', 'Invalid address'],
    [405, 'POST', PATH, 'Method not allowed'],
    [405, 'DELETE', '/', 'Method not allowed'],
  ])('%i for %s %s', async (status, method, path, title) => {
    const answer = await get(here, path, BROWSER, method)
    expect(answer.status).toBe(status)
    isPage(answer.text, title)
    expect(String(answer.headers['content-security-policy'])).toContain("default-src 'none'")
  })

  test('500 without a word of the cause', async () => {
    const broken = new Pages({
      store: { list: () => Promise.reject(new Error('redis://:hunter2@db')) } as never,
      gate: { admit: () => Promise.resolve({ mayRead: async () => true, mayMaintain: async () => true }) },
      queueDepths: async () => [],
    })
    const server = await startServer({
      host: '127.0.0.1',
      port: 0,
      pages: broken,
      ready: async () => undefined,
      log: silentLog,
    })
    servers.push(server)
    const page = await get(server, '/', BROWSER)
    expect(page.status).toBe(500)
    isPage(page.text, 'Internal error')
    expect(page.text).not.toContain('hunter2')
    expect(await get(server, '/')).toMatchObject({ status: 500, text: 'internal error\n' })
  })

  test('but programs and the API get a line of text', async () => {
    expect((await get(here, '/nothing', { accept: '*/*' })).text).toBe('not found\n')
    expect((await get(here, '/api/github/webhooks', BROWSER)).text).toBe('not found\n')
    expect((await get(here, '/api/other', BROWSER)).text).toBe('not found\n')
  })
})

describe('every answer', () => {
  test.each([PATH, '/', '/fleets/acme/fleet', '/fleets/acme/none'])(
    '%s holds no script and loads nothing',
    async path => {
      const { headers, text } = await get(here, path)
      const policy = String(headers['content-security-policy']).split('; ')
      expect(policy).toEqual([
        "default-src 'none'",
        expect.stringMatching(/^style-src 'sha256-[\w+/]{43}='$/),
        ...['img-src data:', "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
      ])
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cache-control': 'private, no-store',
        'content-type': 'text/html; charset=utf-8',
      })
      expect(headers['x-powered-by']).toBeUndefined()
      expect(text).not.toMatch(/<script|<iframe|<img|<link rel="stylesheet"|\son\w+=|\sstyle=|javascript:/i)
    },
  )

  test('is small, and compressed where that is understood', async () => {
    const plain = await get(here, PATH)
    const packed = await get(here, PATH, { 'accept-encoding': 'gzip, br' })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(Number(packed.headers['content-length'])).toBeLessThan(8_000)
    expect(Number(plain.headers['content-length'])).toBeLessThan(30_000)
  })

  test('to HEAD has the headers and no more', async () => {
    const { status, text, headers } = await get(here, PATH, {}, 'HEAD')
    expect([status, text]).toEqual([200, ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(1_000)
  })
})

describe('the metrics', () => {
  const authorization = 'Bearer a-token-of-the-tests'
  test('are for who knows the token', async () => {
    expect(await get(here, '/metrics', { authorization })).toMatchObject({ status: 200, text: 'up 1\n' })
  })

  test.each([
    {},
    { authorization: 'Bearer x' },
    { authorization: 'Basic a-token-of-the-tests' },
    { authorization: `${authorization}x` },
  ])('not for %j', async headers => {
    expect(await get(here, '/metrics', headers)).toMatchObject({ status: 404, text: 'not found\n' })
  })
})
