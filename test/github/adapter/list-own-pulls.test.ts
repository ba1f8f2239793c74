import { expect, test } from 'vitest'
import { listAllOwnPulls, listOwnPulls } from '../../../src/github/own-pulls.ts'
import { rawGitHub } from './raw-github.ts'

const APP = { id: 7, slug: 'bailiwick', name: 'Bailiwick' }
const FLEET = { owner: 'acme', repo: 'fleet' }
const BRANCH = 'bailiwick/rotate-dev-0123456789'

/** A repository with so many pull requests, of which those with these numbers are ours. */
async function withPulls(count: number, ours: readonly number[]) {
  let url = ''
  const github = await rawGitHub((_method, path, query) => {
    if (path !== '/repos/acme/fleet/pulls') return undefined
    const page = Number(query.get('page') ?? '1')
    const first = (page - 1) * 100
    const numbers = Array.from({ length: Math.max(0, Math.min(100, count - first)) }, (_, at) => first + at + 1)
    const next = `${url}${path}?page=${page + 1}&per_page=100&state=all`
    return {
      headers: first + 100 < count ? { link: `<${next}>; rel="next"` } : {},
      body: numbers.map(number => pull(number, ours.includes(number))),
    }
  })
  url = github.url
  return github
}

const pull = (number: number, isOurs: boolean) => ({
  number,
  state: 'closed',
  body: '',
  merged_at: '2026-01-01T00:00:00Z',
  merge_commit_sha: 'a'.repeat(40),
  head: { ref: isOurs ? BRANCH : `topic-${number}`, sha: 'b'.repeat(40), repo: { id: 1 } },
  base: { repo: { id: 1 } },
  user: { login: isOurs ? 'bailiwick[bot]' : 'dora', type: isOurs ? 'Bot' : 'User' },
})

test.each([
  [99, 1],
  [100, 1],
  [101, 2],
  [350, 4],
])('of %i pull requests the oldest is found, with %i requests', async (count, pages) => {
  const { octokit, requests } = await withPulls(count, [1, count])
  const found = await listAllOwnPulls({ ...FLEET, octokit, app: APP }, 'bailiwick/rotate-dev-')
  expect(found.map(({ number }) => number)).toEqual([1, count])
  expect(requests).toHaveLength(pages)
})

test.each([
  [200, true],
  [201, false],
])('two pages of %i pull requests are all of them: %s', async (count, isAll) => {
  const { octokit, requests } = await withPulls(count, [count])
  const found = await listOwnPulls({ ...FLEET, octokit, app: APP }, 'bailiwick/', 2)
  expect([found.isAll, found.pulls.length, requests.length]).toEqual([isAll, isAll ? 1 : 0, 2])
})
