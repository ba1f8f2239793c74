import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { JobName, Jobs, Queue } from '../../src/queue/queue.ts'
import { heard, registerWebhooks } from '../../src/webhooks/register.ts'
import { silentLog } from '../silent-log.ts'

type Listener = (context: { payload: unknown }) => Promise<void>

function hearing(allowedAccounts?: readonly string[]) {
  const listeners = new Map<string, Listener>()
  const jobs: [string, unknown][] = []
  const queue: Pick<Queue, 'add'> = {
    add: async <N extends JobName>(name: N, data: Jobs[N]) => void jobs.push([name, data]),
  }
  const on = (event: string, listener: Listener): void => void listeners.set(event, listener)
  registerWebhooks({ on: on as never }, { queue, allowedAccounts, log: silentLog })
  const send = (event: string, payload: object): Promise<void> => listeners.get(event)!({ payload })
  return { send, jobs, events: [...listeners.keys()] }
}

const repository = { name: 'fleet', owner: { login: 'Acme' } }
const place = { installation: 7, owner: 'Acme', repo: 'fleet' }
const base = { repository, installation: { id: 7 } }
const user = { login: 'ada', type: 'User' }

function comment(body: string, changes: object = {}): object {
  return { ...base, action: 'created', issue: { number: 3 }, comment: { id: 99, body, user }, sender: user, ...changes }
}

async function jobsOf(event: string, payload: object, allowed?: readonly string[]): Promise<unknown[]> {
  const { send, jobs } = hearing(allowed)
  await send(event, payload)
  return jobs
}

describe('pull_request', () => {
  const payload = (action: string, more: object = {}): object => ({
    ...base,
    action,
    pull_request: { number: 5 },
    ...more,
  })

  test.each(['opened', 'synchronize', 'reopened', 'ready_for_review'])('%s asks for a verdict', async action => {
    const job = ['validate-pull-request', { ...place, pull: 5 }]
    expect(await jobsOf('pull_request', payload(action))).toEqual([job])
  })

  test('edited asks for one only when the base changed', async () => {
    const retargeted = payload('edited', { changes: { base: { ref: { from: 'dev' } } } })
    expect(await jobsOf('pull_request', retargeted)).toHaveLength(1)
    expect(await jobsOf('pull_request', payload('edited', { changes: { title: { from: 'x' } } }))).toEqual([])
  })

  test.each(['closed', 'labeled', 'converted_to_draft'])('%s asks for nothing', async action => {
    expect(await jobsOf('pull_request', payload(action))).toEqual([])
  })
})

describe('push', () => {
  const payload = (ref: string, more: object = {}): object => ({
    ...base,
    ref,
    after: 'a'.repeat(40),
    deleted: false,
    ...more,
  })

  test('every branch is judged, whatever its name', async () => {
    for (const branch of ['main', 'dev-team', 'feature/x', 'refs/heads/x', "$(id)'"]) {
      const job = ['validate-push', { ...place, branch, sha: 'a'.repeat(40) }]
      expect(await jobsOf('push', payload(`refs/heads/${branch}`))).toEqual([job])
    }
  })

  test('tags and deletions are not', async () => {
    expect(await jobsOf('push', payload('refs/tags/v1'))).toEqual([])
    expect(await jobsOf('push', payload('refs/heads/x', { deleted: true, after: '0'.repeat(40) }))).toEqual([])
    expect(await jobsOf('push', payload('refs/heads/x', { after: '0'.repeat(40) }))).toEqual([])
  })
})

describe('issue_comment', () => {
  test.each([
    '/bailiwick onboard ops',
    '/bailiwick onboard',
    '/bailiwick  onboard x\r\nplease',
    '/bailiwick onboard\nx',
  ])('%j is a command', async body => {
    const job = ['command', { ...place, issue: 3, comment: 99 }]
    expect(await jobsOf('issue_comment', comment(body))).toEqual([job])
  })

  test.each([
    'hello',
    '> /bailiwick onboard ops',
    ' /bailiwick onboard ops',
    'see\n/bailiwick onboard ops',
    '/bailiwick\nonboard ops',
    '/bailiwick onboarding',
    '/bailiwickonboard x',
    '/BAILIWICK onboard x',
    '',
  ])('%j is none', async body => {
    expect(await jobsOf('issue_comment', comment(body))).toEqual([])
  })

  test('not when edited, deleted, or written by a bot or through an App', async () => {
    const bot = { login: 'bailiwick[bot]', type: 'Bot' }
    const body = '/bailiwick onboard ops'
    const none = [
      comment(body, { action: 'edited' }),
      comment(body, { action: 'deleted' }),
      comment(body, { sender: bot }),
      comment(body, { comment: { id: 99, body, user: bot } }),
      comment(body, { comment: { id: 99, body, user: null } }),
      comment(body, { comment: { id: 99, body, user, performed_via_github_app: { id: 1 } } }),
    ]
    for (const payload of none) expect(await jobsOf('issue_comment', payload)).toEqual([])
  })
})

describe('whose events count', () => {
  const push = { ...base, ref: 'refs/heads/main', after: 'a'.repeat(40), deleted: false }

  test('with a list of accounts, only theirs, without case', async () => {
    expect(await jobsOf('push', push, ['acme'])).toHaveLength(1)
    expect(await jobsOf('push', push, ['other'])).toEqual([])
    expect(await jobsOf('push', push, [])).toEqual([])
  })

  test('an event without installation or repository is ignored', async () => {
    expect(await jobsOf('push', { ...push, installation: undefined })).toEqual([])
    expect(await jobsOf('push', { ...push, repository: undefined })).toEqual([])
  })
})

describe('app.yml', () => {
  const manifest: unknown = parse(readFileSync('app.yml', 'utf8'))

  test('subscribes to exactly the events that are heard', () => {
    const events = hearing().events.sort()
    expect(manifest).toMatchObject({ default_events: events, public: false })
    expect(heard.map(({ event }) => event).sort()).toEqual(events)
  })

  test('asks for no more than it needs', () => {
    const permissions = {
      metadata: 'read',
      contents: 'write',
      pull_requests: 'write',
      checks: 'write',
      issues: 'write',
    }
    expect((manifest as { default_permissions: object }).default_permissions).toEqual(permissions)
  })
})
