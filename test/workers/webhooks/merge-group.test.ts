import { expect, test } from 'vitest'
import { base, jobsOf, place, SHA } from './hearing.ts'

const payload = (action: string, ref = 'refs/heads/main'): object => ({
  ...base,
  action,
  merge_group: {
    head_sha: SHA,
    head_ref: 'refs/heads/gh-readonly-queue/main/pr-1-x',
    base_ref: ref,
    base_sha: 'b'.repeat(40),
  },
})

test('checks_requested: the group is judged at its own commit, onto what stands before it', async () => {
  const data = { ...place, branch: 'main', sha: SHA, base: 'b'.repeat(40) }
  expect(await jobsOf('merge_group', payload('checks_requested'))).toEqual([['validate-merge-group', data]])
  const deep = ['validate-merge-group', { ...data, branch: 'release/1' }]
  expect(await jobsOf('merge_group', payload('checks_requested', 'refs/heads/release/1'))).toEqual([deep])
})

test('destroyed, or onto no branch: nothing', async () => {
  expect(await jobsOf('merge_group', payload('destroyed'))).toEqual([])
  expect(await jobsOf('merge_group', payload('checks_requested', 'refs/tags/x'))).toEqual([])
})
