import { describe, expect, test } from 'vitest'
import { ada, base, jobsOf } from './hearing.ts'

const look = ['sweep-installation', { installation: 7 }]
const survey = ['survey', { installation: 7 }]
const installed = { sender: ada, installation: { id: 7, account: { login: 'Acme' } } }

describe('installation', () => {
  test.each(['created', 'unsuspend', 'new_permissions_accepted'])('%s: everything is looked at', async action => {
    expect(await jobsOf('installation', { ...installed, action })).toEqual([look, survey])
  })

  test.each(['deleted', 'suspend'])('%s: nothing can be done', async action => {
    expect(await jobsOf('installation', { ...installed, action })).toEqual([])
  })

  test('of an account that is not served: nothing', async () => {
    expect(await jobsOf('installation', { ...installed, action: 'created' }, ['other'])).toEqual([])
    expect(await jobsOf('installation', { ...installed, action: 'created' }, ['acme'])).toHaveLength(2)
  })
})

test.each(['added', 'removed'])('installation_repositories %s: everything is looked at', async action => {
  expect(await jobsOf('installation_repositories', { ...installed, action })).toEqual([look, survey])
})

describe('repository', () => {
  test.each(['renamed', 'transferred', 'archived', 'unarchived', 'deleted', 'privatized', 'publicized'])(
    '%s: everything is looked at',
    async action => {
      expect(await jobsOf('repository', { ...base, action })).toEqual([look, survey])
    },
  )

  test('edited counts for another default branch only', async () => {
    const changes = { default_branch: { from: 'main' } }
    expect(await jobsOf('repository', { ...base, action: 'edited', changes })).toEqual([look, survey])
    expect(await jobsOf('repository', { ...base, action: 'edited', changes: { description: {} } })).toEqual([])
    expect(await jobsOf('repository', { ...base, action: 'created' })).toEqual([])
  })
})

describe('what protects a branch', () => {
  test.each(['created', 'edited', 'deleted'])(
    '%s: everything is looked at: other names may be required',
    async action => {
      expect(await jobsOf('branch_protection_rule', { ...base, action })).toEqual([look, survey])
      expect(await jobsOf('repository_ruleset', { ...base, action })).toEqual([look, survey])
    },
  )

  test("an organisation's ruleset names no repository", async () => {
    const payload = { action: 'edited', installation: { id: 7 }, organization: { login: 'Acme' }, sender: ada }
    expect(await jobsOf('repository_ruleset', payload)).toEqual([look, survey])
    expect(await jobsOf('repository_ruleset', payload, ['other'])).toEqual([])
  })
})
