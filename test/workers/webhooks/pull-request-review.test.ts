import { expect, test } from 'vitest'
import { base, jobsOf, place } from './hearing.ts'

const review = (action: string, state: string): object => ({
  ...base,
  action,
  review: { state },
  pull_request: { number: 5 },
})

test.each([
  ['submitted', 'approved', 1],
  ['submitted', 'APPROVED', 1],
  ['submitted', 'changes_requested', 1],
  ['dismissed', 'dismissed', 1],
  ['submitted', 'commented', 0],
  ['edited', 'approved', 0],
])('%s %s', async (action, state, count) => {
  const jobs = await jobsOf('pull_request_review', review(action, state))
  expect(jobs).toEqual(Array(count).fill(['validate-pull-request', { ...place, pull: 5 }]))
})
