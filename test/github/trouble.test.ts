import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acme, FLEET, NAME } from '../../tools/github/acme.ts'
import type { TroubleKind } from '../../tools/github/http/trouble.ts'

let env: Awaited<ReturnType<typeof acme>>
beforeEach(async () => {
  env = await acme()
})
afterEach(async () => {
  vi.useRealTimers()
  expect(env.github.responseViolations).toEqual([])
  expect(env.github.violations).toEqual([])
  await env.github.close()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(env.github.url + path, { headers: { authorization: `token ${env.github.tokenOf('ada')}`, ...headers } })

test('a share of the requests fails, by seed always the same ones, until it is over', async () => {
  const statuses = async (seed: number) => {
    const trouble = env.github.trouble({ rate: 0.3, seed })
    const found: number[] = []
    for (let n = 0; n < 60; n++) found.push((await get('/repos/acme/fleet')).status)
    trouble.stop()
    expect(trouble.failed).toBe(found.filter(status => status !== 200).length)
    return found
  }
  const [first, again, other] = [await statuses(1), await statuses(1), await statuses(2)]
  expect(again).toEqual(first)
  expect(other).not.toEqual(first)
  expect(new Set(first)).toEqual(new Set([200, 403, 429, 500, 502]))
  expect((await get('/repos/acme/fleet')).status).toBe(200)
})

test.each([
  ['500', 500],
  ['502', 502],
  ['403-retry-after', 403],
  ['429', 429],
] as const)('%s is answered before anything is done, to tokens and JSON web tokens too', async (kind, status) => {
  const trouble = env.github.trouble({ rate: 1, kinds: [kind], retryAfter: 2 })
  const issue = env.app.rest.issues.create({ ...FLEET, title: 'x' })
  await expect(issue).rejects.toMatchObject({ status })
  const answer = await get('/repos/acme/fleet')
  expect(answer.headers.get('retry-after')).toBe(status === 403 || status === 429 ? '2' : null)
  expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull()
  expect(trouble.byKind).toEqual({ [kind]: 2 })
  trouble.stop()
  expect((await env.app.rest.issues.listForRepo(FLEET)).data).toEqual([])
})

test('written-502: the write is done, and the answer says 502 all the same', async () => {
  const { token } = (await env.app.auth({ type: 'installation' })) as { token: string }
  env.github.trouble({ rate: 1, kinds: ['written-502'] })
  const body = JSON.stringify({ title: 'Report' })
  const headers = { authorization: `token ${token}` }
  const made = await fetch(`${env.github.url}/repos/acme/fleet/issues`, { method: 'POST', headers, body })
  expect([made.status, made.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8'])
  expect(env.github.requests.at(-1)).toMatchObject({ status: 502, trouble: 'written-502' satisfies TroubleKind })
  env.github.trouble({ rate: 0 })
  expect((await env.app.rest.issues.listForRepo(FLEET)).data.map(each => each.title)).toEqual(['Report'])
})

test('latency holds every answer back', async () => {
  env.github.trouble({ rate: 0, latencyMs: 120 })
  const started = performance.now()
  expect((await get('/repos/acme/fleet')).status).toBe(200)
  expect(performance.now() - started).toBeGreaterThan(115)
})

test('the limit: each caller’s own, told on every answer, over after an hour, and 304 is free', async () => {
  await env.github.close()
  env = await acme({ rateLimit: 2 })
  const token = `token ${env.github.tokenOf('ada')}`
  const call = (etag = '') => get('/users/ada', { authorization: token, ...(etag ? { 'if-none-match': etag } : {}) })
  const first = await call()
  const etag = first.headers.get('etag') ?? ''
  expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
  expect((await call(`W/${etag}`)).status).toBe(304)
  expect((await call(etag)).headers.get('x-ratelimit-remaining')).toBe('1')
  expect((await call()).status).toBe(200)
  const over = await call()
  expect([over.status, over.headers.get('x-ratelimit-remaining')]).toEqual([403, '0'])
  expect(await over.text()).toMatch(/API rate limit exceeded for user ID \d+/)
  expect((await get('/users/ada', { authorization: `token ${env.github.tokenOf('dev')}` })).status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
  expect((await call()).status).toBe(200)
  expect(env.github.commitOf(NAME, 'main')).toMatch(/^[0-9a-f]{40}$/)
})
