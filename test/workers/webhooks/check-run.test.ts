import { describe, expect, test } from 'vitest'
import { ada, base, bot, jobsOf, place, SHA, US } from './hearing.ts'

const payload = (action: string, more: object = {}, run: object = {}): object => ({
  ...base,
  action,
  check_run: { id: 99, head_sha: SHA, app: { id: US }, check_suite: { head_branch: 'main' }, ...run },
  ...more,
})
const pressed = (identifier: string, more: object = {}) =>
  payload('requested_action', { requested_action: { identifier }, ...more })
const commitAgain = ['evaluate-commit', { ...place, sha: SHA, rerun: true }]
const branchAgain = ['validate-push', { ...place, branch: 'main', sha: SHA, rerun: true }]

describe('our own check runs', () => {
  test('rerequested: what stands on the commit is judged again, and GitHub waits for a run', async () => {
    expect(await jobsOf('check_run', payload('rerequested'))).toEqual([commitAgain, branchAgain])
  })

  test("a fork's commit has no branch here", async () => {
    expect(await jobsOf('check_run', payload('rerequested', {}, { check_suite: { head_branch: null } }))).toEqual([
      commitAgain,
    ])
    expect(await jobsOf('check_run', payload('rerequested', {}, { check_suite: null }))).toEqual([commitAgain])
  })

  test('buttons: evaluate judges again and publishes a new run, fix and waive are asked for in the name of who pressed', async () => {
    expect(await jobsOf('check_run', pressed('evaluate'))).toEqual([commitAgain, branchAgain])
    for (const action of ['fix', 'waive']) {
      const job = ['check-action', { ...place, check: 99, action, login: 'ada' }]
      expect(await jobsOf('check_run', pressed(action, { sender: ada }))).toEqual([job])
    }
  })

  test('buttons that we do not have, or that a bot presses, do nothing', async () => {
    for (const identifier of ['approve', '', 'override', '__proto__', 'FIX']) {
      expect(await jobsOf('check_run', pressed(identifier))).toEqual([])
    }
    expect(await jobsOf('check_run', payload('requested_action'))).toEqual([])
    expect(await jobsOf('check_run', pressed('fix', { sender: bot }))).toEqual([])
  })

  test.each(['created', 'completed'])('%s is our own doing', async action => {
    expect(await jobsOf('check_run', payload(action))).toEqual([])
  })
})

test("other Apps' check runs are theirs, even with our name and our buttons", async () => {
  for (const app of [{ id: US + 1 }, null, undefined]) {
    const run = { app, name: 'bailiwick / tenancy' }
    const button = { requested_action: { identifier: 'fix' } }
    expect(await jobsOf('check_run', payload('rerequested', {}, run))).toEqual([])
    expect(await jobsOf('check_run', payload('requested_action', button, run))).toEqual([])
  }
})
