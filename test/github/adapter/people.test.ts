import { expect, test } from 'vitest'
import { isOurs } from '../../../src/github/client/octokit.ts'
import { readIssueComment } from '../../../src/github/comments.ts'
import { readRole } from '../../../src/github/people.ts'
import { rawGitHub } from './raw-github.ts'

const FLEET = { owner: 'acme', repo: 'fleet' }
const APP = { id: 7, slug: 'bailiwick' }

test.each([
  ['a role of GitHub', { role_name: 'maintain', permission: 'write' }, 'maintain'],
  ['no role', { role_name: 'none', permission: 'none' }, 'none'],
  [
    'a role of the organisation that extends write',
    { role_name: 'deployer', user: { login: 'eve', permissions: { push: true, pull: true } } },
    'write',
  ],
  [
    'a role named like ours in another case',
    { role_name: 'Admin', user: { login: 'eve', permissions: { pull: true } } },
    'read',
  ],
  ['a role without permissions', { role_name: 'odd', user: { login: 'eve' } }, 'none'],
  ['an answer about somebody else', { role_name: 'admin', user: { login: 'mallory' } }, 'none'],
])('readRole: %s', async (_, body, role) => {
  const { octokit, requests } = await rawGitHub(() => ({ body: { user: { login: 'Eve' }, ...body } }))
  expect(await readRole({ ...FLEET, octokit }, 'eve')).toBe(role)
  expect(requests).toEqual(['GET /repos/acme/fleet/collaborators/eve/permission'])
})

test('readRole: nobody of that name', async () => {
  const { octokit } = await rawGitHub(() => undefined)
  expect(await readRole({ ...FLEET, octokit }, 'eve/../../x')).toBe('none')
})

const via = (id: number) => ({ performed_via_github_app: { id } })
test.each([
  ['our bot', { user: { login: 'bailiwick[bot]', type: 'Bot' }, ...via(7) }, true],
  [
    'our bot, the app not told',
    { user: { login: 'Bailiwick[bot]', type: 'Bot' }, performed_via_github_app: null },
    true,
  ],
  ['a person', { user: { login: 'eve', type: 'User' } }, false],
  ['a person who acts through our app', { user: { login: 'eve', type: 'User' }, ...via(7) }, false],
  ['a person named like the slug', { user: { login: 'bailiwick', type: 'User' } }, false],
  ['another bot', { user: { login: 'evil[bot]', type: 'Bot' }, ...via(7) }, false],
  ['another app under our name', { user: { login: 'bailiwick[bot]', type: 'Bot' }, ...via(8) }, false],
  ['a deleted account', { user: null }, false],
])('isOurs: %s', (_, authorship, expected) => {
  expect(isOurs(APP, authorship)).toBe(expected)
})

const COMMENT = {
  id: 3,
  body: '/bailiwick onboard',
  user: { login: 'eve', type: 'User' },
  issue_url: 'https://api.github.com/repos/acme/fleet/issues/12',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
}

async function commentHost(comment: object, issue: object | undefined) {
  const { octokit } = await rawGitHub((_, path) => {
    if (path.endsWith('/issues/comments/3')) return { body: { ...COMMENT, ...comment } }
    return path.endsWith('/issues/12') && issue ? { body: issue } : undefined
  })
  return readIssueComment({ ...FLEET, octokit }, 3)
}

test('readIssueComment tells who wrote what where, and whether it was edited', async () => {
  const reactions = { '+1': 0, '-1': 0, confused: 0, rocket: 0, eyes: 1, heart: 2 }
  expect(await commentHost({ reactions }, { state: 'open', user: { login: 'dora' } })).toEqual({
    id: 3,
    body: '/bailiwick onboard',
    author: { login: 'eve', type: 'User' },
    viaApp: false,
    createdAt: '2026-01-01T00:00:00Z',
    reacted: false,
    edited: false,
    issue: { number: 12, open: true, pullRequest: false, author: 'dora' },
  })
  expect(await commentHost({ reactions: { ...reactions, rocket: 1 } }, { state: 'open' })).toMatchObject({
    reacted: true,
    issue: { author: undefined },
  })
  expect(await commentHost({ performed_via_github_app: { id: 9 } }, { state: 'open' })).toMatchObject({ viaApp: true })
  const later = { updated_at: '2026-01-01T00:00:05Z' }
  expect(await commentHost(later, { state: 'closed', pull_request: {} })).toMatchObject({
    edited: true,
    issue: { open: false, pullRequest: true },
  })
  expect(await commentHost({ user: null }, { state: 'open' })).toBeUndefined()
  expect(await commentHost({}, undefined)).toBeUndefined()
})
