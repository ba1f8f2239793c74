import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { message } from '../../../src/base/message.ts'
import { github, unlessMissing } from '../../../src/github/client/github-error.ts'
import { type Answer, rawGitHub } from './raw-github.ts'

const SECRET = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a'

async function failing(answer: Answer) {
  const { octokit } = await rawGitHub(() => answer)
  return octokit
}

async function errorOf(answer: Answer): Promise<BailiwickError> {
  const octokit = await failing(answer)
  const error = await github(message`read acme/fleet`, () =>
    octokit.rest.repos.get({ owner: 'acme', repo: 'fleet' }),
  ).catch(e => e)
  expect(error).toBeInstanceOf(BailiwickError)
  return error
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
    await expect(github(message`x`, () => Promise.reject(ours))).rejects.toBe(ours)
    await expect(github(message`x`, () => Promise.reject(new TypeError('x is undefined')))).rejects.toMatchObject({
      code: 'internal',
    })
  })
})

test('unlessMissing answers undefined for what is not there and for an empty repository, nothing else', async () => {
  const ask = async (status: number) => {
    const octokit = await failing({ status, body: { message: 'x' } })
    return unlessMissing(message`read`, () => octokit.rest.git.getRef({ owner: 'a', repo: 'b', ref: 'heads/main' }))
  }
  expect(await ask(404)).toBeUndefined()
  expect(await ask(409)).toBeUndefined()
  await expect(ask(403)).rejects.toMatchObject({ code: 'not-permitted' })
  await expect(ask(500)).rejects.toMatchObject({ code: 'github-unavailable' })
})
