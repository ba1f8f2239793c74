import { expect, test } from 'vitest'
import { base, jobsOf, place, SHA } from './hearing.ts'

const payload = (action: string, more: object = {}): object => ({
  ...base,
  action,
  pull_request: { number: 5, head: { sha: SHA, ref: 'feature' } },
  ...more,
})
const verdict = ['validate-pull-request', { ...place, pull: 5 }]

test.each(['opened', 'synchronize', 'reopened', 'ready_for_review', 'converted_to_draft'])(
  '%s asks for a verdict',
  async action => {
    expect(await jobsOf('pull_request', payload(action))).toEqual([verdict])
  },
)

test('edited asks for one only when the base changed', async () => {
  const retargeted = payload('edited', { changes: { base: { ref: { from: 'dev' } } } })
  expect(await jobsOf('pull_request', retargeted)).toEqual([verdict])
  expect(await jobsOf('pull_request', payload('edited', { changes: { title: { from: 'x' } } }))).toEqual([])
})

test.each(['labeled', 'unlabeled'])('%s asks for one only when the label is ours', async action => {
  expect(await jobsOf('pull_request', payload(action, { label: { name: 'bailiwick/hold' } }))).toEqual([verdict])
  expect(await jobsOf('pull_request', payload(action, { label: { name: 'Bailiwick/Hold' } }))).toEqual([verdict])
  expect(await jobsOf('pull_request', payload(action, { label: { name: 'bug' } }))).toEqual([])
  expect(await jobsOf('pull_request', payload(action))).toEqual([])
})

test('closed leaves the commit to the others that have it', async () => {
  expect(await jobsOf('pull_request', payload('closed'))).toEqual([
    ['evaluate-commit', { ...place, sha: SHA, closed: 5 }],
  ])
})

test('an onboarding of ours that was closed without a merge gives back what it was given', async () => {
  const closed = (ref: string, merged: boolean) =>
    payload('closed', { pull_request: { number: 5, merged, head: { sha: SHA, ref } } })
  const jobs = async (ref: string, merged: boolean) => (await jobsOf('pull_request', closed(ref, merged))).slice(1)
  expect(await jobs('bailiwick/onboard-ops', false)).toEqual([['withdraw-access', { ...place, pull: 5 }]])
  expect(await jobs('bailiwick/onboard-ops', true)).toEqual([])
  expect(await jobs('feature', false)).toEqual([])
})

test.each(['auto_merge_enabled', 'enqueued', 'dequeued', 'assigned', 'review_requested', 'locked'])(
  '%s asks for nothing',
  async action => {
    expect(await jobsOf('pull_request', payload(action))).toEqual([])
  },
)
