import { expect, test } from 'vitest'
import { withKnownAnswers } from '../../../src/github/client/known-answers.ts'

const BRANCH = 'https://api.github.com/repos/acme/fleet/branches/main'

/** A GitHub whose answer to every request is `state.body`, with the conditions that it was asked with. */
function open(state: { body: string | readonly string[]; status?: number }) {
  const conditions: (string | null)[] = []
  const ask = withKnownAnswers(async (input, init) => {
    const condition = new Request(input, init).headers.get('if-none-match')
    conditions.push(condition)
    const status = state.status ?? 200
    const headers = {
      etag: `"${state.body.length}-${String(state.body).slice(0, 9)}"`,
      'x-ratelimit-remaining': `${9 - conditions.length}`,
    }
    if (status === 200 && condition === headers.etag) return new Response(null, { status: 304, headers })
    return new Response(status === 200 ? JSON.stringify(state.body) : 'null', { status, headers })
  })
  const read = async (url: string, token = 'ghs_one') => {
    const response = await ask(url, { headers: { authorization: `token ${token}` } })
    return { status: response.status, body: await response.json(), left: response.headers.get('x-ratelimit-remaining') }
  }
  return { conditions, read }
}

test('an answer that still holds is given again, with the limits of now', async () => {
  const { conditions, read } = open({ body: 'first' })
  expect(await read(BRANCH)).toEqual({ status: 200, body: 'first', left: '8' })
  expect(await read(BRANCH)).toEqual({ status: 200, body: 'first', left: '7' })
  expect(await read(BRANCH)).toEqual({ status: 200, body: 'first', left: '6' })
  expect(conditions).toEqual([null, '"5-first"', '"5-first"'])
})

test('a changed answer is the new one; what fails is not replaced by what was known', async () => {
  const state: { body: string; status?: number } = { body: 'first' }
  const { conditions, read } = open(state)
  await read(BRANCH)
  state.body = 'second'
  expect(await read(BRANCH)).toMatchObject({ status: 200, body: 'second' })
  state.status = 404
  expect(await read(BRANCH)).toMatchObject({ status: 404 })
  state.status = 200
  expect(await read(BRANCH)).toMatchObject({ status: 200, body: 'second' })
  expect(conditions).toEqual([null, '"5-first"', '"6-second"', null])
})

test('what one token may see is not given to another one', async () => {
  const { conditions, read } = open({ body: 'first' })
  await read(BRANCH)
  await read(BRANCH, 'ghs_two')
  expect(conditions).toEqual([null, null])
})

test.each([
  'https://api.github.com/repos/acme/fleet/pulls/1',
  'https://api.github.com/repos/acme/fleet/commits/abc/check-runs?per_page=100',
])('%s is read whole each time', async url => {
  const { conditions, read } = open({ body: 'first' })
  await read(url)
  await read(url)
  expect(conditions).toEqual([null, null])
})

test('a full last page is read whole: the next page does not change it', async () => {
  const { conditions, read } = open({ body: ['one', 'two'] })
  for (const most of [2, 2, 3, 3]) await read(`https://api.github.com/repos/acme/fleet/pulls?per_page=${most}`)
  expect(conditions.map(one => one !== null)).toEqual([false, false, false, true])
})

test('the answers that were not used for longest go, where all of them are too large', async () => {
  const { conditions, read } = open({ body: ['x'.repeat(12 * 1024 * 1024)] })
  const branches = ['one', 'two', 'one', 'three', 'one', 'two']
  for (const branch of branches) await read(`https://api.github.com/repos/acme/fleet/branches/${branch}`)
  expect(conditions.map(one => one !== null)).toEqual([false, false, true, false, true, false])
})
