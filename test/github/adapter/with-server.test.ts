import { describe, expect, test } from 'vitest'
import { ObjectStore } from '../../../src/git/object-store.ts'
import { openSnapshot } from '../../../src/git/tree.ts'
import { readBranch, readHead } from '../../../src/github/branches.ts'
import { publishCheckRun } from '../../../src/github/checks.ts'
import { react, readIssueComment, removeComment, upsertComment } from '../../../src/github/comments.ts'
import { readTree } from '../../../src/github/contents/read-tree.ts'
import { listRepositories } from '../../../src/github/contents/repositories.ts'
import { readRole } from '../../../src/github/people.ts'
import { listOpenPullRequests, readPullRequest } from '../../../src/github/pull-request.ts'
import { mergesAs, readTestMerge, type TestMerge } from '../../../src/github/test-merge.ts'
import { normaliseUrl } from '../../../src/kube/source-address.ts'
import { temporaryFolder } from '../../base/git/temporary-folder.ts'
import { acme, FLEET } from './acme.ts'

const MARKER = '<!-- bailiwick:verdict -->'
const newStore = () => new ObjectStore(temporaryFolder())

describe('trees', () => {
  test('cold 3 requests, warm 0, one changed file 3, and the ids are those of git', async () => {
    const { github, octokit, asked, fleet } = await acme()
    const store = newStore()
    const head = await readBranch(fleet, 'main')
    expect(head!.commit).toBe(github.commitOf('acme/fleet', 'main'))
    asked()
    const snapshot = await readTree({ octokit, ...FLEET, commit: head!.commit }, store)
    expect(snapshot.id).toBe(head!.tree)
    expect(asked()).toEqual(['GET /git/commits/{commit_sha}', 'GET /git/trees/{tree_sha}', 'GET /tarball/{ref}'])
    await readTree({ octokit, ...FLEET, commit: head!.commit }, store)
    expect(asked()).toEqual([])

    github.push({ repo: 'acme/fleet', files: { 'tenants/dev/sync.yaml': 'kind: OCIRepository\n' }, as: 'ada' })
    const next = await readBranch(fleet, 'main')
    asked()
    const changed = await readTree({ octokit, ...FLEET, ...next! }, store)
    expect(Buffer.from(openSnapshot(changed).read('tenants/dev/sync.yaml')).toString()).toBe('kind: OCIRepository\n')
    // the caller knew the tree: one less
    expect(asked()).toEqual(['GET /git/trees/{tree_sha}', 'GET /git/blobs/{file_sha}'])
  })

  test('export-ignore hides nothing', async () => {
    const files = {
      '.gitattributes': 'tenants export-ignore\n',
      'a.yaml': 'a\n',
      'b.yaml': 'b\n',
      'tenants/evil.yaml': 'evil\n',
    }
    const { github, octokit, asked } = await acme(files)
    const commit = github.commitOf('acme/fleet', 'main')
    const snapshot = await readTree({ octokit, ...FLEET, commit }, newStore())
    expect(snapshot.entries.map(entry => entry.path).sort()).toEqual(Object.keys(files).sort())
    expect(asked().filter(route => route.includes('blobs'))).toHaveLength(1)
  })

  test('an empty repository has no head; a branch and a commit have', async () => {
    const { github, octokit, fleet } = await acme()
    github.addRepository({ owner: 'acme', name: 'empty' })
    expect(await readBranch({ octokit, owner: 'acme', repo: 'empty' }, 'main')).toBeUndefined()
    expect(await readBranch({ octokit, owner: 'acme', repo: 'hidden' }, 'main')).toBeUndefined()
    expect(await readHead(fleet, { branch: 'gone' })).toBeUndefined()
    const commit = github.commitOf('acme/fleet', 'main')
    expect(await readHead(fleet, { commit })).toMatchObject({ commit })
    expect(await readHead(fleet, { commit: '1'.repeat(40) })).toBeUndefined()
  })
})

test('repositories are found by address, with a token narrowed to one of them as well', async () => {
  const { github, app, octokit, installation } = await acme()
  const other = github.addRepository({ owner: 'acme', name: 'ops', files: { a: 'a' } })
  const all = await listRepositories(octokit)
  expect(all.map(one => one.repo).sort()).toEqual(['fleet', 'ops'])
  const url = normaliseUrl('git@github.com:Acme/Ops.git')
  expect(all.find(one => one.url === url)).toMatchObject({ id: other.id, defaultBranch: 'main' })
  const narrow = await app.client(installation, [other.id])
  expect(await readBranch({ octokit: narrow, owner: 'acme', repo: 'ops' }, 'main')).toBeDefined()
  // private, and not of this token: as if it were not there
  expect(await readBranch({ ...FLEET, octokit: narrow }, 'main').catch(error => error.code)).toBeOneOf([
    undefined,
    'not-permitted',
  ])
  await expect(app.installationOf({ owner: 'acme', repo: 'fleet' })).resolves.toMatchObject({ id: installation })
})

describe('pull requests', () => {
  test('the test merge follows base and head; a conflict is told', async () => {
    const { github, octokit, asked, fleet } = await acme()
    github.push({ repo: 'acme/fleet', branch: 'fix', files: { 'new.yaml': 'new\n' }, as: 'dev' })
    const { issue } = github.openPullRequest({ repo: 'acme/fleet', head: 'fix', as: 'dev' })
    github.push({ repo: 'acme/fleet', files: { 'main.yaml': 'main\n' }, as: 'ada' })
    github.pullRequest('acme/fleet', issue.number)
    asked()
    const pull = await readPullRequest(fleet, issue.number)
    const merge = await readTestMerge(fleet, pull!, newStore())
    expect(asked()).toHaveLength(3)
    expect(merge.parents).toEqual([github.commitOf('acme/fleet', 'main'), github.commitOf('acme/fleet', 'fix')])
    const tree = await readTree({ octokit, ...FLEET, commit: merge.sha, tree: merge.tree }, newStore())
    expect(tree.entries.map(entry => entry.path)).toEqual(expect.arrayContaining(['new.yaml', 'main.yaml']))
    expect((await listOpenPullRequests(fleet, 'main')).map(one => one.number)).toEqual([issue.number])

    // the base moves after the pull request was read: what was read then is not used
    github.push({ repo: 'acme/fleet', files: { 'main.yaml': 'again\n' }, as: 'ada' })
    expect(await readTestMerge(fleet, pull!, newStore())).toMatchObject({
      ...{ isOurs: true, base: github.commitOf('acme/fleet', 'main'), head: merge.head },
    })

    github.push({ repo: 'acme/fleet', files: { 'new.yaml': 'other\n' }, as: 'ada' })
    github.pullRequest('acme/fleet', issue.number)
    const conflicting = await readPullRequest(fleet, issue.number)
    await expect(readTestMerge(fleet, conflicting!, newStore())).rejects.toMatchObject({ code: 'merge-conflict' })
  })

  test('GitHub is not waited for where its merge is known: it gets what GitHub makes of it', async () => {
    const { github, octokit, fleet } = await acme()
    const store = newStore()
    const at = async (number: number) => ({ ...(await readPullRequest(fleet, number))!, mergeable: null })
    const push = (branch: string, files: Record<string, string>) =>
      github.push({ repo: 'acme/fleet', branch, files, as: 'ada' })
    push('fix', { 'new.yaml': 'new\n' })
    const { number } = github.openPullRequest({ repo: 'acme/fleet', head: 'fix', as: 'dev' }).issue
    const pathsOf = async ({ sha: commit, tree }: Pick<TestMerge, 'sha' | 'tree'>) =>
      (await readTree({ octokit, ...FLEET, commit, tree }, store)).entries.map(one => `${one.path} ${one.id}`)
    const steps: [string, Record<string, string>][] = [
      ...[
        ['fix', {}],
        ['fix', { 'second.yaml': 'x\n' }],
        ['main', { 'main.yaml': 'main\n' }],
      ],
      ...[
        ['main', { 'tenants/new.yaml': 'x\n' }],
        ['fix', { 'third.yaml': 'x\n' }],
      ],
    ] as [string, Record<string, string>][]
    for (const [branch, files] of steps) {
      if (Object.keys(files).length > 0) push(branch, files)
      const known = await readTestMerge(fleet, await at(number), store)
      github.pullRequest('acme/fleet', number)
      const pull = (await readPullRequest(fleet, number))!
      const made = await readTestMerge(fleet, pull, newStore())
      expect(known).toMatchObject({ tree: made.tree, base: made.base, baseTree: made.baseTree, head: made.head })
      expect(made.isOurs).toBeUndefined()
      expect(known.isOurs).toBe(branch === 'fix' && !files['third.yaml'] ? undefined : true)
      expect(await pathsOf(known)).toEqual(await pathsOf(made))
      expect(await mergesAs(fleet, pull, known)).toBe(true)
      expect(await mergesAs(fleet, pull, { ...known, tree: known.baseTree })).toBe(false)
      expect(await mergesAs(fleet, pull, { ...known, base: known.head })).toBeUndefined()
    }
    // the head holds a merge: there may be several merge bases
    const parent = github.commitOf('acme/fleet', 'fix')
    github.push({ repo: 'acme/fleet', branch: 'side', parent, files: { 'side.yaml': 'x\n' }, as: 'ada' })
    const side = github.openPullRequest({ repo: 'acme/fleet', head: 'side', base: 'fix', as: 'dev' }).issue.number
    github.merge({ repo: 'acme/fleet', pull: side, as: 'ada' })
    await expect(readTestMerge(fleet, await at(number), store)).rejects.toMatchObject({ code: 'github-unavailable' })
  })

  test('a fork is told, and its test merge is read through the base repository', async () => {
    const { github, octokit, fleet } = await acme()
    github.addUser('eve')
    github.setRole('acme/fleet', 'eve', 'read')
    github.addRepository({ owner: 'eve', name: 'fleet', forkOf: 'acme/fleet' })
    github.push({ repo: 'eve/fleet', files: { 'evil.yaml': 'x\n' }, as: 'eve' })
    const { issue } = github.openPullRequest({ repo: 'acme/fleet', head: 'main', headRepo: 'eve/fleet', as: 'eve' })
    github.pullRequest('acme/fleet', issue.number)
    const pull = await readPullRequest(fleet, issue.number)
    expect(pull!.head).toMatchObject({ fork: true, repository: 'eve/fleet' })
    const merge = await readTestMerge(fleet, pull!, newStore())
    const tree = await readTree({ octokit, ...FLEET, commit: merge.sha }, newStore())
    expect(tree.entries.map(entry => entry.path)).toContain('evil.yaml')
  })
})

test('a verdict with 51 annotations opens the gate only when it is whole', async () => {
  const { github, asked, fleet } = await acme()
  const headSha = github.commitOf('acme/fleet', 'main')
  const annotations = Array.from({ length: 51 }, (_, n) => {
    return { path: 'README.md', line: n + 1, level: 'warning', title: 'rule', message: 'what' } as const
  })
  const run = {
    headSha,
    name: 'bailiwick / tenancy',
    externalId: 'c1',
    conclusion: 'success',
    title: 't',
    summary: 's',
    annotations,
  } as const
  expect(await publishCheckRun(fleet, run)).toMatchObject({ written: true })
  expect(asked()).toEqual(['GET /commits/{ref}/check-runs', 'POST /check-runs', 'PATCH /check-runs/{check_run_id}'])
  expect(await publishCheckRun(fleet, run)).toMatchObject({ written: false })
  expect(asked()).toEqual(['GET /commits/{ref}/check-runs'])
  const [published, ...more] = github.checkRunsOf('acme/fleet', headSha)
  expect(more).toEqual([])
  expect(published).toMatchObject({ status: 'completed', conclusion: 'success', externalId: 'c1' })
  expect(published!.annotations).toHaveLength(51)
})

describe('the sticky comment', () => {
  test('is written once, changed in place, found behind many others, and not when somebody pastes the marker', async () => {
    const { github, asked, fleet } = await acme()
    const { number } = github.issue({ repo: 'acme/fleet', title: 'x', as: 'dev' })
    const spoof = github.comment({ repo: 'acme/fleet', issue: number, as: 'dev', body: `${MARKER}\n✅ all fine` })
    const say = (body: string) => upsertComment(fleet, { number, marker: MARKER, body })
    const first = await say(`${MARKER}\nred`)
    expect(first).toMatchObject({ written: true })
    expect(first.id).not.toBe(spoof.id)
    for (let n = 0; n < 120; n++) github.comment({ repo: 'acme/fleet', issue: number, as: 'dev', body: `talk ${n}` })
    asked()
    expect(await say('red')).toEqual({ id: first.id, written: false })
    expect(asked().filter(route => !route.startsWith('GET'))).toEqual([])
    expect(await say('green')).toEqual({ id: first.id, written: true })
    const ours = github.commentsOf('acme/fleet', number).filter(one => one.user.type === 'Bot')
    expect(ours.map(one => one.body)).toEqual([`${MARKER}\ngreen`])
    expect(github.commentsOf('acme/fleet', number)).toHaveLength(122)
  })

  test('a second one of ours is removed, another marker of ours is not', async () => {
    const { github, octokit, fleet } = await acme()
    const { number } = github.issue({ repo: 'acme/fleet', title: 'x', as: 'dev' })
    for (const body of [`${MARKER}\nfirst`, `${MARKER}\nsecond`, '<!-- bailiwick:report -->\nx', `quoted ${MARKER}`]) {
      await octokit.rest.issues.createComment({ ...FLEET, issue_number: number, body })
    }
    await upsertComment(fleet, { number, marker: MARKER, body: 'now' })
    const bodies = () => github.commentsOf('acme/fleet', number).map(one => one.body)
    expect(bodies()).toEqual([`${MARKER}\nnow`, '<!-- bailiwick:report -->\nx', `quoted ${MARKER}`])
    expect(await removeComment(fleet, { number, marker: MARKER })).toBe(true)
    expect(await removeComment(fleet, { number, marker: MARKER })).toBe(false)
    expect(bodies()).toHaveLength(2)
  })

  test('is cut where it is too long', async () => {
    const { github, fleet } = await acme()
    const { number } = github.issue({ repo: 'acme/fleet', title: 'x', as: 'dev' })
    const long = { number, marker: MARKER, body: 'ü'.repeat(50_000) }
    await upsertComment(fleet, long)
    expect(await upsertComment(fleet, long)).toMatchObject({ written: false })
    const [comment] = github.commentsOf('acme/fleet', number)
    expect(Buffer.byteLength(comment!.body)).toBeLessThanOrEqual(60_000)
    expect(comment!.body).toMatch(/^<!-- bailiwick:verdict -->\n[\s\S]*Truncated/)
  })
})

test('who commented, what they may do, and a reaction', async () => {
  const { github, fleet } = await acme()
  const { number } = github.issue({ repo: 'acme/fleet', title: 'x', as: 'dev' })
  const comment = github.comment({ repo: 'acme/fleet', issue: number, as: 'dev', body: '/bailiwick onboard' })
  expect(await readIssueComment(fleet, comment.id)).toMatchObject({
    id: comment.id,
    body: '/bailiwick onboard',
    author: { login: 'dev', type: 'User' },
    edited: false,
    issue: { number, open: true, pullRequest: false },
  })
  expect(await readIssueComment(fleet, 1)).toBeUndefined()
  expect(await readRole(fleet, 'dev')).toBe('write')
  expect(await readRole(fleet, 'ada')).toBe('admin')
  expect(await readRole(fleet, 'nobody-knows')).toBe('none')
  await react(fleet, comment.id, '-1')
  await react(fleet, comment.id, '-1')
  const [kept] = github.commentsOf('acme/fleet', number)
  expect(kept!.reactions.map(one => one.content)).toEqual(['-1'])
})
