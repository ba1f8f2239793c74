import { describe, expect, test } from 'vitest'
import { type NewPullRequest, openPullRequest } from '../../../src/github/own-pulls.ts'
import { acme, FLEET } from './acme.ts'

const WANTED: NewPullRequest = {
  base: 'main',
  branch: 'bailiwick/onboard-ops',
  files: [
    { path: 'tenants/ops/rbac.yaml', content: 'kind: RoleBinding\n' },
    { path: 'clusters/staging/apps.yaml', content: 'kind: Kustomization\n# ops\n' },
    { path: 'README.md', content: null },
  ],
  title: 'Onboard ops',
  body: 'What it does.',
  message: 'Onboard ops',
}
const taken = { code: 'onboard-input', message: expect.stringContaining('in use') }

describe('openPullRequest', () => {
  test('one commit of ours on the base; again and again the same pull request', async () => {
    const { github, octokit, identity, asked, fleet } = await acme()
    // callers name a repository by objects that hold more; nothing of that may be sent
    const place = { ...FLEET, octokit, path: 'x', body: 'x' }
    const opened = await openPullRequest({ ...place, octokit, app: identity }, WANTED)
    expect(opened).toMatchObject({ written: true, url: expect.stringContaining('/acme/fleet/pull/') })
    expect(asked()).toHaveLength(7)
    for (let n = 0; n < 2; n++) {
      expect(await openPullRequest(fleet, WANTED)).toEqual({ ...opened, written: false })
    }
    expect(asked().filter(route => /POST|PATCH/.test(route))).toEqual(['POST /git/trees', 'POST /git/trees'])
    expect(github.pullRequestsOf('acme/fleet')).toHaveLength(1)
    expect(github.filesOf('acme/fleet', WANTED.branch).sort()).toEqual([
      'clusters/staging/apps.yaml',
      'tenants/dev/rbac.yaml',
      'tenants/dev/sync.yaml',
      'tenants/ops/rbac.yaml',
    ])
    const pull = github.pullRequest('acme/fleet', opened.number)
    expect(pull.issue.user.login).toBe('bailiwick[bot]')
    expect(github.merge({ repo: 'acme/fleet', pull: opened.number, as: 'ada' }).status).toBe(200)
  })

  test('still the same after the base has moved on; rebuilt where the files are to be others', async () => {
    const { github, fleet } = await acme()
    const opened = await openPullRequest(fleet, WANTED)
    github.push({ repo: 'acme/fleet', files: { 'unrelated.yaml': 'x\n' }, as: 'ada' })
    expect(await openPullRequest(fleet, WANTED)).toEqual({ ...opened, written: false })
    const other = { ...WANTED, files: [{ path: 'tenants/ops/other.yaml', content: 'x\n' }], title: 'Onboard ops again' }
    const rebuilt = await openPullRequest(fleet, other)
    const head = github.commitOf('acme/fleet', WANTED.branch)
    expect(rebuilt).toEqual({ ...opened, head, written: true })
    expect(head).not.toBe(opened.head)
    expect(github.filesOf('acme/fleet', WANTED.branch)).not.toContain('tenants/ops/rbac.yaml')
    expect(github.filesOf('acme/fleet', WANTED.branch)).toEqual(
      expect.arrayContaining(['unrelated.yaml', 'tenants/ops/other.yaml']),
    )
    expect(github.pullRequest('acme/fleet', opened.number).issue.title).toBe('Onboard ops again')
  })

  test('goes on after a crash between branch and pull request', async () => {
    const { github, fleet } = await acme()
    github.failNext(1, 502, {}, request => request.method === 'POST' && request.path.endsWith('/pulls'))
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject({ code: 'github-unavailable' })
    expect(await openPullRequest(fleet, WANTED)).toMatchObject({ written: true })
    expect(github.pullRequestsOf('acme/fleet')).toHaveLength(1)
  })

  test('never takes a branch that somebody else made, with or without a pull request of theirs', async () => {
    const { github, fleet } = await acme()
    github.push({ repo: 'acme/fleet', branch: WANTED.branch, files: { 'evil.yaml': 'x\n' }, as: 'dev' })
    const before = github.commitOf('acme/fleet', WANTED.branch)
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject(taken)
    github.openPullRequest({ repo: 'acme/fleet', head: WANTED.branch, as: 'dev' })
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject(taken)
    expect(github.commitOf('acme/fleet', WANTED.branch)).toBe(before)
  })

  test('nor a pull request that somebody else opened, even with exactly our files', async () => {
    const { github, fleet } = await acme()
    const files = Object.fromEntries(
      WANTED.files.flatMap(({ path, content }) => (content === null ? [] : [[path, content]])),
    )
    github.push({ repo: 'acme/fleet', branch: WANTED.branch, files, remove: ['README.md'], as: 'dev' })
    github.openPullRequest({ repo: 'acme/fleet', head: WANTED.branch, as: 'dev' })
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject(taken)
  })

  test('a pull request of ours that was closed is opened anew with the same files, not moved to others', async () => {
    const { github, fleet } = await acme()
    const first = await openPullRequest(fleet, WANTED)
    github.closePullRequest({ repo: 'acme/fleet', pull: first.number, as: 'ada' })
    const other = { ...WANTED, files: [{ path: 'tenants/ops/other.yaml', content: 'x\n' }] }
    await expect(openPullRequest(fleet, other)).rejects.toMatchObject(taken)
    expect((await openPullRequest(fleet, WANTED)).number).toBeGreaterThan(first.number)
  })

  test('refuses its own pull request when somebody pushed onto it, and a commit slipped in below ours', async () => {
    const { github, fleet } = await acme()
    await openPullRequest(fleet, WANTED)
    const ours = github.commitOf('acme/fleet', WANTED.branch)
    github.push({ repo: 'acme/fleet', branch: WANTED.branch, files: { 'evil.yaml': 'x\n' }, as: 'dev' })
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject(taken)
    expect(ours).not.toBe(github.commitOf('acme/fleet', WANTED.branch))
    // evil first, then exactly our files on top of it
    const main = github.commitOf('acme/fleet', 'main')
    github.push({ repo: 'acme/fleet', branch: 'hidden', files: { 'evil.yaml': 'x\n' }, parent: main, as: 'dev' })
    const files = Object.fromEntries(
      WANTED.files.flatMap(({ path, content }) => (content === null ? [] : [[path, content]])),
    )
    const top = github.push({ repo: 'acme/fleet', branch: 'hidden', files, remove: ['README.md'], as: 'dev' })
    const sha = typeof top === 'string' ? top : github.commitOf('acme/fleet', 'hidden')
    github.pushRef({ repo: 'acme/fleet', branch: WANTED.branch, sha, as: 'dev' })
    await expect(openPullRequest(fleet, WANTED)).rejects.toMatchObject(taken)
  })

  test('says when there is nothing to change, no such base, or a path that is none', async () => {
    const { fleet } = await acme()
    const same = { ...WANTED, files: [{ path: 'README.md', content: '# fleet\n' }] }
    await expect(openPullRequest(fleet, same)).rejects.toMatchObject({ code: 'onboard-input' })
    const nowhere = { ...WANTED, base: 'gone' }
    await expect(openPullRequest(fleet, nowhere)).rejects.toMatchObject({ code: 'git-missing' })
    const outside = { ...WANTED, files: [{ path: '../.git/config', content: 'x' }] }
    await expect(openPullRequest(fleet, outside)).rejects.toMatchObject({ code: 'git-ambiguous' })
  })
})
