import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { message, plainText } from '../../../src/base/message.ts'
import { askedFor, githubError, unlessMissing } from '../../../src/github/client/github-error.ts'
import { type Answer, rawGitHub } from './raw-github.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SECRET = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a'

async function failing(answer: Answer) {
  const { octokit } = await rawGitHub(() => answer)
  return octokit
}

async function errorOf(answer: Answer): Promise<BailiwickError> {
  const octokit = await failing(answer)
  const error = await octokit.rest.repos.get({ owner: 'acme', repo: 'fleet' }).catch((e: unknown) => e)
  if (error instanceof BailiwickError) return error
  throw new TypeError('the request was answered')
}

describe('github', () => {
  const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 100) }
  test.each<[string, Answer, string, number | undefined]>([
    ['401', { status: 401, body: { message: 'Bad credentials' } }, 'not-permitted', undefined],
    ['403', { status: 403, body: { message: 'Resource not accessible' } }, 'not-permitted', undefined],
    ['403 with retry-after', { status: 403, headers: { 'retry-after': '60' }, body: {} }, 'github-unavailable', 60],
    ['403 of the primary limit', { status: 403, headers: reset, body: {} }, 'github-unavailable', 100],
    [
      '403 secondary',
      { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } },
      'github-unavailable',
      60,
    ],
    [
      '403 of an IP allow list',
      {
        status: 403,
        body: {
          message:
            'Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
        },
      },
      'github-unavailable',
      undefined,
    ],
    ['404', { status: 404, body: { message: 'Not Found' } }, 'git-missing', undefined],
    ['409', { status: 409, body: { message: 'Conflict' } }, 'github-unavailable', undefined],
    ['422', { status: 422, body: { message: 'Validation Failed' } }, 'internal', undefined],
    ['429', { status: 429, headers: { 'retry-after': '3' }, body: {} }, 'github-unavailable', 3],
    ['502', { status: 502, body: '<html>' }, 'github-unavailable', undefined],
    ['a torn connection', {}, 'github-unavailable', undefined],
  ])('%s', async (_, answer, code, retryAfter) => {
    const error = await errorOf(answer)
    expect(error.code).toBe(code)
    if (retryAfter === undefined) expect(error.retryAfter).toBeUndefined()
    else expect(Math.abs(error.retryAfter! - retryAfter)).toBeLessThanOrEqual(1)
    expect(error.message).toContain('acme/fleet')
  })

  test('puts nothing of an answer, no token and no address into a message', async () => {
    for (const status of [401, 403, 404, 409, 422, 500]) {
      const error = await errorOf({
        status,
        body: { message: `token ${SECRET}\u001b[31m`, errors: [{ resource: SECRET }] },
      })
      expect(error.message).not.toContain(SECRET)
      expect(error.message).not.toContain('127.0.0.1')
      expect(JSON.stringify(error)).not.toContain('ghs_secret')
    }
  })

  test('leaves an error of ours as it is and calls a bug a bug', async () => {
    const ours = new BailiwickError('git-corrupt', 'x')
    expect(githubError(message`x`, ours)).toBe(ours)
    expect(githubError(message`x`, new TypeError('x is undefined'))).toMatchObject({ code: 'internal' })
  })
})

test('unlessMissing answers undefined for what is not there and for an empty repository, nothing else', async () => {
  const ask = async (status: number) => {
    const octokit = await failing({ status, body: { message: 'x' } })
    return unlessMissing(octokit.rest.git.getRef({ owner: 'a', repo: 'b', ref: 'heads/main' }))
  }
  expect(await ask(404)).toBeUndefined()
  expect(await ask(409)).toBeUndefined()
  await expect(ask(403)).rejects.toMatchObject({ code: 'not-permitted' })
  await expect(ask(500)).rejects.toMatchObject({ code: 'github-unavailable' })
})

test.each([
  ['GET', '/repos/acme/fleet', 'read the repository acme/fleet'],
  ['GET', '/repos/acme/fleet/contents/clusters/a%20b', 'read the file clusters/a b of acme/fleet'],
  ['GET', '/repos/acme/fleet/branches/release%2F1', 'read branch "release/1" of acme/fleet'],
  ['GET', '/repos/acme/fleet/branches/contents/protection', 'read the protection of branch "contents" of acme/fleet'],
  ['PATCH', '/repos/acme/fleet/git/refs/heads%2Fbailiwick%2Ffix', 'write the ref "heads/bailiwick/fix" of acme/fleet'],
  ['GET', '/repos/acme/fleet/pulls/7/reviews?per_page=100', 'read reviews of acme/fleet#7'],
  ['POST', '/repos/acme/fleet/check-runs', 'write check runs of acme/fleet'],
  ['DELETE', '/repos/acme/fleet/keys/5', 'delete deploy keys of acme/fleet'],
  ['GET', '/app/installations?page=2', 'read installations'],
])('a failed %s %s could not %s', (method, path, words) => {
  for (const base of ['https://api.github.com', 'https://git.example/api/v3'])
    expect(plainText(askedFor(method, base + path))).toBe(words)
})

test('no address that we ask for is without words of its own', async () => {
  const { octokit } = await rawGitHub(() => undefined)
  const sources = globSync('{src,workers}/**/*.ts', { cwd: ROOT }).map(path => readFileSync(join(ROOT, path), 'utf8'))
  const asked = sources.flatMap(text => [...text.matchAll(/\brest\.(\w+)\.(\w+)\b/g)])
  const rest = octokit.rest as unknown as Record<
    string,
    Record<string, { endpoint(values: object): { url: string; method: string } }>
  >
  const names = { owner: 'acme', repo: 'fleet', org: 'acme', path: 'a', ref: 'heads/a', branch: 'a', username: 'ada' }
  const ids = Object.fromEntries(['tree_sha', 'commit_sha', 'file_sha', 'tag_sha'].map(key => [key, 'a'.repeat(40)]))
  const requests = asked.flatMap(([, group = '', name = '']) => {
    const { url, method } = rest[group]?.[name]?.endpoint({ ...names, ...ids, pull_number: 1, issue_number: 1 }) ?? {}
    return url && method ? [[method, url] as const] : []
  })
  expect(requests.length).toBeGreaterThan(60)
  const wordless = requests.filter(([method, url]) => plainText(askedFor(method, url)).includes('what was asked for'))
  expect(wordless.map(([, url]) => url)).toEqual([])
})
