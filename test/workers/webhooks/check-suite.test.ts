import { expect, test } from 'vitest'
import { base, jobsOf, place, SHA, US } from './hearing.ts'

const payload = (action: string, suite: object = {}): object => ({
  ...base,
  action,
  check_suite: { head_sha: SHA, head_branch: 'topic', app: { id: US }, ...suite },
})
const commit = ['evaluate-commit', { ...place, sha: SHA, rerun: true }]

test('rerequested: what stands on the commit is judged again', async () => {
  const branch = ['validate-push', { ...place, branch: 'topic', sha: SHA, rerun: true }]
  expect(await jobsOf('check_suite', payload('rerequested'))).toEqual([commit, branch])
  expect(await jobsOf('check_suite', payload('rerequested', { head_branch: null }))).toEqual([commit])
})

test("a suite that GitHub made, that is done, or that is another App's asks for nothing", async () => {
  for (const action of ['requested', 'completed']) expect(await jobsOf('check_suite', payload(action))).toEqual([])
  expect(await jobsOf('check_suite', payload('rerequested', { app: { id: US + 1 } }))).toEqual([])
  expect(await jobsOf('check_suite', payload('rerequested', { app: null }))).toEqual([])
})
