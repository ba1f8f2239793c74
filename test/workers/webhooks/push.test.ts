import { expect, test } from 'vitest'
import { base, jobsOf, place, SHA } from './hearing.ts'

const ZERO = '0'.repeat(40)
const payload = (ref: string, more: object = {}): object => ({
  ...base,
  ref,
  before: ZERO,
  after: SHA,
  deleted: false,
  ...more,
})
const followersOf = (ref: string) => [['evaluate-followers', { ...place, ref }]]

test('every branch is judged, whatever its name', async () => {
  for (const branch of ['main', 'dev-team', 'feature/x', 'refs/heads/x', 'refs/tags/x', "$(id)'"]) {
    const job = ['validate-push', { ...place, branch, sha: SHA }]
    expect(await jobsOf('push', payload(`refs/heads/${branch}`))).toEqual([job])
  }
})

test('what the branch held before goes with it, where it held something', async () => {
  const before = 'b'.repeat(40)
  const job = ['validate-push', { ...place, branch: 'main', sha: SHA, before }]
  expect(await jobsOf('push', payload('refs/heads/main', { before }))).toEqual([job])
})

test('who follows a tag, or a branch that is gone, is judged', async () => {
  const gone = { deleted: true, after: ZERO }
  expect(await jobsOf('push', payload('refs/tags/v1'))).toEqual(followersOf('refs/tags/v1'))
  expect(await jobsOf('push', payload('refs/tags/v1', gone))).toEqual(followersOf('refs/tags/v1'))
  expect(await jobsOf('push', payload('refs/heads/x', gone))).toEqual(followersOf('refs/heads/x'))
  expect(await jobsOf('push', payload('refs/heads/x', { after: ZERO }))).toEqual(followersOf('refs/heads/x'))
})
