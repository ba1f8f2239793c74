import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/process/log.ts'
import { openSitePages } from '../../../src/start-site.ts'
import { PAGE_LIMITS, PageStore } from '../../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { startServer, type WebServer } from '../../../src/surface/web/server.ts'
import { type FakeGitHub, startGitHub } from '../../../tools/github/start.ts'
import { environment } from '../config/environment-of.ts'
import { SHA, sampleFleet, samplePage } from './sample-pages.ts'

const PUBLIC = 'https://bailiwick.example.com'
const lines: string[] = []
const log = createLog('trace', { write: line => void lines.push(line) })
let github: FakeGitHub
let server: WebServer
let close: () => Promise<void>
let store: PageStore

beforeAll(async () => {
  const callbackUrls = [`${PUBLIC}/login/callback`]
  github = await startGitHub({ checkResponses: true, app: { callbackUrls, permissions: { metadata: 'read' } } })
  github.addOrganization('acme', { admins: ['ada'], members: [] })
  github.addRepository({ owner: 'acme', name: 'fleet', files: { x: '1' }, roles: { ada: 'admin', otto: 'read' } })
  github.addRepository({ owner: 'acme', name: 'ops-team', files: { x: '1' }, roles: { otto: 'write' } })
  github.addUser('mallory')
  github.install(github.app, 'acme', 'all', 'ada')
  const { clientId, clientSecret } = github.app
  const config = readConfig(
    environment({ GITHUB_API_URL: github.url, PUBLIC_URL: PUBLIC, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }),
  )
  store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
  const site = openSitePages(config, { store, queueDepths: async () => [], log })
  close = site.close
  server = await startServer({ host: '127.0.0.1', port: 0, pages: site.pages, ready: async () => undefined, log })
  await store.keep(samplePage({ repositoryId: repositoryId('acme/fleet') }))
  await store.keep(samplePage({ repo: 'ops-team', headSha: 'b'.repeat(40) }))
  await store.keep(sampleFleet({ repositoryId: repositoryId('acme/fleet') }))
})
afterAll(async () => {
  await server.close(100)
  await close()
  await github.close()
})
afterEach(() => {
  vi.useRealTimers()
  expect(github.violations).toEqual([])
  expect(github.unknown).toEqual([])
})

const FLEET_CHECK = `/checks/acme/fleet/${SHA}`
const repositoryId = (name: string) =>
  [...github.world.repositories.values()].find(one => `${one.owner.login}/${one.name}` === name)?.id ?? 0

/** What a browser does: keeps cookies, follows nothing by itself. */
class Visitor {
  readonly jar = new Map<string, string>()
  headers: Record<string, string> = {}

  async get(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie ? { cookie } : {}), ...this.headers, ...init.headers }
    const response = await fetch(`${server.url}${path}`, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) this.jar.delete(name)
      else this.jar.set(name, value)
      expect(line).toMatch(/^__Host-bailiwick[\w-]*=[\w-]*; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/)
    }
    return response
  }

  /** The way to GitHub and the address that it sends back to. */
  async toGitHub(login: string, to = ''): Promise<string> {
    const away = (await this.get(`/login${to}`)).headers.get('location') ?? ''
    const back = new URL(await github.signIn({ login, url: away }))
    expect(back.origin + back.pathname).toBe(`${PUBLIC}/login/callback`)
    return back.pathname + back.search
  }

  async signIn(login: string, to = ''): Promise<Response> {
    return this.get(await this.toGitHub(login, to))
  }
}

async function signedIn(login: string): Promise<Visitor> {
  const visitor = new Visitor()
  expect((await visitor.signIn(login)).status).toBe(303)
  return visitor
}

describe('nobody who has not signed in sees anything', () => {
  test.each([FLEET_CHECK, '/fleets/acme/fleet', `/checks/acme/none/${SHA}`, '/'])('%s leads to GitHub', async path => {
    const response = await new Visitor().get(path)
    expect([response.status, await response.text()]).toEqual([303, ''])
    expect(response.headers.get('location')).toMatch(/^\/login(?:\?to=|$)/)
  })

  test('by a state, a PKCE challenge and no secret', async () => {
    const visitor = new Visitor()
    const away = new URL((await visitor.get('/login')).headers.get('location') ?? '')
    expect(away.origin).toBe(github.url)
    expect(Object.fromEntries(away.searchParams)).toMatchObject({
      code_challenge_method: 'S256',
      client_id: github.app.clientId,
    })
    expect(away.searchParams.get('state')).toMatch(/^[\w-]{43}$/)
    expect(away.href).not.toContain(github.app.clientSecret)
  })
})

describe('who signed in', () => {
  test('comes back to the page, and sees it', async () => {
    const visitor = new Visitor()
    const to = (await visitor.get(FLEET_CHECK)).headers.get('location')?.replace('/login', '') ?? ''
    const back = await visitor.signIn('ada', to)
    expect(back.headers.get('location')).toBe(FLEET_CHECK)
    const page = await visitor.get(FLEET_CHECK)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Signed in as ada')
    expect((await visitor.get('/fleets/acme/fleet')).status).toBe(200)
  })

  test('comes back to the filters of a shared address, and to the page alone where these are too long', async () => {
    const back = async (path: string) => {
      const visitor = new Visitor()
      const to = (await visitor.get(path)).headers.get('location')?.replace('/login', '') ?? ''
      return (await visitor.signIn('ada', to)).headers.get('location')
    }
    const shared = '/fleets/acme/fleet/graph?text=a%26b&tenant=ops-team'
    expect(await back(shared)).toBe(shared)
    const [page, longest] = ['/fleets/acme/fleet', `?text=${'x'.repeat(994)}`]
    expect(await back(`${page}${longest}`)).toBe(`${page}${longest}`)
    expect(await back(`${page}${longest}x`)).toBe(page)
  })

  const elsewhere = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/login',
    '/checks/../x',
    'fleets/a/b',
  ]
  test.each(elsewhere)('never goes to %s', async to => {
    const visitor = new Visitor()
    expect((await visitor.signIn('ada', `?to=${encodeURIComponent(to)}`)).headers.get('location')).toBe('/')
  })

  test('and may not read gets what everybody gets where there is no page', async () => {
    const mallory = await signedIn('mallory')
    const [hidden, absent] = [await mallory.get(FLEET_CHECK), await mallory.get(`/checks/acme/none/${SHA}`)]
    expect([hidden.status, absent.status]).toEqual([404, 404])
    expect(await hidden.text()).toBe(await absent.text())
    for (const page of ['/fleets/acme/fleet', '/fleets/acme/fleet/graph', '/fleets/acme/fleet?text=a'])
      expect((await mallory.get(page)).status).toBe(404)
    expect(await (await mallory.get('/')).text()).not.toContain('acme')
  })

  test('sees at most what GitHub lets them read in the list', async () => {
    const text = await (await (await signedIn('otto')).get('/')).text()
    expect(text).toContain(`/checks/acme/ops-team/${'b'.repeat(40)}`)
    expect(text).toContain('/fleets/acme/fleet')
  })

  test('and is sent away on GitHub sees nothing a minute later', async () => {
    const otto = await signedIn('otto')
    expect((await otto.get(FLEET_CHECK)).status).toBe(200)
    github.setRole('acme/fleet', 'otto', 'none')
    const asked = github.requests.length
    expect((await otto.get(FLEET_CHECK)).status).toBe(200)
    expect(github.requests.length).toBe(asked)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })
    expect((await otto.get(FLEET_CHECK)).status).toBe(404)
    github.setRole('acme/fleet', 'otto', 'read')
  })

  test('does not get the page of a repository that had the name before', async () => {
    const headSha = 'c'.repeat(40)
    await store.keep(samplePage({ headSha, repositoryId: 1 }))
    expect((await (await signedIn('ada')).get(`/checks/acme/fleet/${headSha}`)).status).toBe(404)
  })

  test('does not get a page that was made for fewer people than can see the repository now', async () => {
    const headSha = 'd'.repeat(40)
    const open = `/checks/acme/fleet/${headSha}`
    await store.keep({ ...samplePage({ headSha, repositoryId: repositoryId('acme/fleet') }), visibility: 'public' })
    github.repositoryNamed('acme/fleet').private = false
    const mallory = await signedIn('mallory')
    expect((await mallory.get(FLEET_CHECK)).status).toBe(404)
    expect((await mallory.get('/fleets/acme/fleet')).status).toBe(404)
    expect((await mallory.get(open)).status).toBe(200)
    const list = await (await mallory.get('/')).text()
    expect(list).toContain(open)
    expect(list).not.toContain(FLEET_CHECK)
    github.repositoryNamed('acme/fleet').private = true
  })

  test('is told when GitHub does not answer, and sees nothing', async () => {
    const ada = await signedIn('ada')
    github.failNext(1, 502)
    const response = await ada.get(FLEET_CHECK)
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('namespace-confinement')
    expect((await ada.get(FLEET_CHECK)).status).toBe(200)
  })

  test('signs out, and the old cookie is worth nothing', async () => {
    const ada = await signedIn('ada')
    const before = new Map(ada.jar)
    const foreign = await ada.get('/logout', { method: 'POST', headers: { origin: 'https://evil.example' } })
    expect(foreign.status).toBe(403)
    expect((await ada.get(FLEET_CHECK)).status).toBe(200)
    expect((await ada.get('/logout', { method: 'POST', headers: { origin: PUBLIC } })).status).toBe(303)
    for (const [name, value] of before) ada.jar.set(name, value)
    expect((await ada.get(FLEET_CHECK)).status).toBe(303)
  })

  test('has eight hours', async () => {
    const ada = await signedIn('ada')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * 3_600_000 + 1 })
    expect((await ada.get(FLEET_CHECK)).status).toBe(303)
  })

  test('and whose token GitHub takes no more signs in again', async () => {
    const ada = await signedIn('ada')
    for (const [token, { actor }] of github.world.tokens) if (actor.kind === 'user') github.world.tokens.delete(token)
    const response = await ada.get(FLEET_CHECK)
    expect([response.status, response.headers.get('location')]).toEqual([303, '/login'])
  })
})

describe('a forged way back is refused', () => {
  test('without the cookie of this browser', async () => {
    const back = await new Visitor().toGitHub('mallory')
    const victim = new Visitor()
    expect((await victim.get(back)).status).toBe(400)
    expect(victim.jar.size).toBe(0)
  })

  test('with another state', async () => {
    const visitor = new Visitor()
    const back = await visitor.toGitHub('ada')
    expect((await visitor.get(back.replace(/state=[\w-]{5}/, 'state=AAAAA'))).status).toBe(400)
    // the attempt is over: the right state does not help any more
    expect((await visitor.get(back)).status).toBe(400)
  })

  test('with a code of another attempt: it lacks the verifier', async () => {
    const [mine, other] = [new Visitor(), new Visitor()]
    const code = new URLSearchParams((await other.toGitHub('mallory')).split('?')[1]).get('code') ?? ''
    const back = await mine.toGitHub('ada')
    expect((await mine.get(back.replace(/code=[^&]+/, `code=${code}`))).status).toBe(400)
    expect((await mine.get(FLEET_CHECK)).status).toBe(303)
  })

  test.each(['', '?code=x', '?state=&code=', '?error=access_denied&state=x'])('%s', async query => {
    expect((await new Visitor().get(`/login/callback${query}`)).status).toBe(400)
  })

  test.each(['x', 'A'.repeat(43), '../../x', '%00'])('a session called %s is none', async id => {
    const visitor = new Visitor()
    visitor.jar.set('__Host-bailiwick', id)
    expect((await visitor.get(FLEET_CHECK)).status).toBe(303)
  })
})

test('no token, code or session gets into the log', async () => {
  const ada = await signedIn('ada')
  await ada.get(FLEET_CHECK)
  const said = lines.join('')
  for (const token of github.world.tokens.keys()) expect(said).not.toContain(token)
  for (const value of ada.jar.values()) expect(said).not.toContain(value)
})
