import { afterEach, expect, test } from 'vitest'
import { acme, FLEET, NAME } from '../../tools/github/acme.ts'
import { startGitHub } from '../../tools/github/start.ts'

let env: Awaited<ReturnType<typeof acme>>
afterEach(async () => await env.github.close())

async function post(path: string, body: string | undefined, method = 'POST') {
  const { token } = (await env.app.auth({ type: 'installation' })) as { token: string }
  const headers = { authorization: `token ${token}` }
  return fetch(env.github.url + path, body === undefined ? { method, headers } : { method, headers, body })
}

test('a request that GitHub does not describe is 422, and is remembered', async () => {
  env = await acme()
  const sha = env.github.commitOf(NAME, 'main')
  const wrong = [
    ['/repos/acme/fleet/check-runs', { name: 'x', head_sha: sha, output: { title: 'no summary' } }],
    ['/repos/acme/fleet/check-runs', { name: 'x', head_sha: sha, conclusion: 'error' }],
    [
      '/repos/acme/fleet/check-runs',
      { name: 'x', head_sha: sha, actions: [{ id: 'a', label: 'b', description: 'c' }] },
    ],
    ['/repos/acme/fleet/issues/1/comments', { text: 'x' }],
    ['/repos/acme/fleet/git/trees', { tree: [{ path: 'x', mode: '644' }] }],
    ['/repos/acme/fleet/git/refs', { ref: 'refs/heads/x', sha, forced: true }],
  ] as const
  for (const [path, body] of wrong) expect((await post(path, JSON.stringify(body))).status).toBe(422)
  expect((await post('/repos/acme/fleet/pulls?page=x&sort=age&colour=red', undefined, 'GET')).status).toBe(422)
  expect(env.github.violations).toHaveLength(wrong.length + 1)
  expect(env.github.violations.at(-1)!.problems).toEqual([
    expect.stringContaining('query sort'),
    expect.stringContaining('query page'),
    'query colour: is not described',
  ])
  expect(env.github.checkRunsOf(NAME, 'main')).toEqual([])
})

test('what the server does not have is 404, and is remembered', async () => {
  env = await acme()
  expect((await post('/repos/acme/fleet/deployments', '{}')).status).toBe(404)
  expect((await post('/repos/acme/fleet/checkruns', '{}')).status).toBe(404)
  expect(env.github.unknown).toEqual([
    { method: 'POST', path: '/repos/acme/fleet/deployments', documented: true },
    { method: 'POST', path: '/repos/acme/fleet/checkruns', documented: false },
  ])
  expect(env.github.violations).toHaveLength(1)
})

test('broken JSON is 400; no body is no body', async () => {
  env = await acme()
  expect((await post('/repos/acme/fleet/issues', '{')).status).toBe(400)
  env.github.push({ repo: NAME, branch: 'topic', files: { x: '1' }, as: 'dev' })
  const { number } = env.github.openPullRequest({ repo: NAME, head: 'topic', as: 'dev' }).issue
  expect((await post(`/repos/acme/fleet/pulls/${number}/merge`, undefined, 'PUT')).status).toBe(200)
  expect(env.github.violations).toEqual([])
})

test('failures are injected as often as asked, where asked', async () => {
  env = await acme()
  await env.app.rest.repos.get(FLEET)
  env.github.failNext(2, 502)
  env.github.failNext(1, 403, { 'retry-after': '7' }, ({ path }) => path.endsWith('/pulls'))
  const get = (path: string) => post(path, undefined, 'GET')
  expect([(await get('/repos/acme/fleet')).status, (await get('/repos/acme/fleet')).status]).toEqual([502, 502])
  expect((await get('/repos/acme/fleet')).status).toBe(200)
  const limited = await get('/repos/acme/fleet/pulls')
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([403, '7'])
  expect((await get('/repos/acme/fleet/pulls')).status).toBe(200)
})

test('requests are remembered with who asked, and counted by route', async () => {
  env = await acme()
  await env.app.rest.repos.get(FLEET)
  await env.as('dev').rest.repos.get(FLEET)
  expect(env.github.requests.at(-1)).toMatchObject({
    method: 'GET',
    path: '/repos/acme/fleet',
    as: 'user:dev',
    status: 200,
  })
  expect(env.github.counts()).toEqual({
    'POST /app/installations/{installation_id}/access_tokens': 1,
    'GET /repos/{owner}/{repo}': 2,
  })
  env.github.forget()
  expect(env.github.counts()).toEqual({})
})

test('what did not change is 304 for who has it', async () => {
  env = await acme()
  const headers = { authorization: `token ${env.github.tokenOf('dev')}` }
  const url = `${env.github.url}/repos/acme/fleet/git/ref/heads/main`
  const etag = (await fetch(url, { headers })).headers.get('etag') ?? ''
  expect((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304)
  env.github.push({ repo: NAME, files: { x: '1' }, as: 'ada' })
  expect((await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(200)
})

test('a parameter that GitHub heeds and this server does not is never ignored', async () => {
  env = await acme()
  const answer = await post('/repos/acme/fleet/issues?assignee=ada', undefined, 'GET')
  expect(answer.status).toBe(501)
  expect(env.github.unknown).toEqual([{ method: 'GET', path: '/repos/acme/fleet/issues?assignee', documented: true }])
  expect((await post('/repos/acme/fleet/contents/%ff', undefined, 'GET')).status).toBe(400)
})

test('two servers know nothing of each other, and one starts in no time', async () => {
  env = await acme()
  const times: number[] = []
  for (let i = 0; i < 3; i++) {
    const started = performance.now()
    const other = await startGitHub()
    times.push(performance.now() - started)
    expect(() => other.commitOf(NAME, 'main')).toThrow('there is no repository acme/fleet')
    await other.close()
  }
  expect(Math.min(...times)).toBeLessThan(50)
})
