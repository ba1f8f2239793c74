import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { base, hearing, jobsOf, SHA } from './hearing.ts'

describe('whose events count', () => {
  const push = { ...base, ref: 'refs/heads/main', before: SHA, after: SHA, deleted: false }

  test('with a list of accounts, only theirs, without case', async () => {
    expect(await jobsOf('push', push, ['acme'])).toHaveLength(1)
    expect(await jobsOf('push', push, ['other'])).toEqual([])
    expect(await jobsOf('push', push, [])).toEqual([])
  })

  test('an event without installation, or without the repository that it is about, is ignored', async () => {
    expect(await jobsOf('push', { ...push, installation: undefined })).toEqual([])
    expect(await jobsOf('push', { ...push, repository: undefined })).toEqual([])
    const organization = { login: 'Acme' }
    expect(await jobsOf('push', { ...push, repository: undefined, organization })).toEqual([])
  })
})

describe('app.yml', () => {
  const manifest: unknown = parse(readFileSync('app.yml', 'utf8'))

  test('subscribes to exactly the events that are heard', () => {
    // these come to every App and cannot be subscribed to: https://docs.github.com/en/webhooks/webhook-events-and-payloads
    const unasked = ['installation', 'installation_repositories']
    const events = hearing().events.sort()
    expect(events).toEqual(expect.arrayContaining(unasked))
    const subscribed = events.filter(event => !unasked.includes(event))
    expect(manifest).toMatchObject({ default_events: subscribed, public: false })
  })
})
