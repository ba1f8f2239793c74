import { expect, test } from 'vitest'
import { ada, base, bot, jobsOf, place } from './hearing.ts'

function comment(body: string, changes: object = {}): object {
  return { ...base, action: 'created', issue: { number: 3 }, comment: { id: 99, body, user: ada }, ...changes }
}

test.each([
  '/bailiwick onboard ops',
  '/bailiwick onboard',
  '/bailiwick  hold\r\nplease',
  '/bailiwick',
  '/bailiwick\nonboard ops',
  '/bailiwick\tcheck',
  '/bailiwick nonsense',
])('%j is a command', async body => {
  const job = ['command', { ...place, issue: 3, comment: 99 }]
  expect(await jobsOf('issue_comment', comment(body))).toEqual([job])
})

test.each([
  'hello',
  '> /bailiwick onboard ops',
  ' /bailiwick onboard ops',
  'see\n/bailiwick onboard ops',
  '/bailiwickonboard x',
  '/bailiwick-onboard x',
  '/BAILIWICK onboard x',
  '',
])('%j is none', async body => {
  expect(await jobsOf('issue_comment', comment(body))).toEqual([])
})

test('not when edited, deleted, or written by a bot or through an App', async () => {
  const body = '/bailiwick onboard ops'
  const none = [
    comment(body, { action: 'edited' }),
    comment(body, { action: 'deleted' }),
    comment(body, { sender: bot }),
    comment(body, { comment: { id: 99, body, user: bot } }),
    comment(body, { comment: { id: 99, body, user: null } }),
    comment(body, { comment: { id: 99, body, user: ada, performed_via_github_app: { id: 1 } } }),
  ]
  for (const payload of none) expect(await jobsOf('issue_comment', payload)).toEqual([])
})
