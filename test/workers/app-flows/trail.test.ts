import { Octokit } from '@octokit/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anchorOf, TRAIL_BRANCH } from '../../../src/verdict/trail-entry.ts'
import { verifyTrail } from '../../../src/verdict/verify-trail.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, nextSecond, proposeViolation } from './commands.ts'
import { reportOf, surveyAgain } from './survey.ts'

const FLEET = 'acme/fleet'
const REPO = 'acme/dev-team'
const BRANCH = 'leaves'
const REASON = 'the-gate-is-wrong-about-this'

let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage({ settings: { TRAIL: 'on' } })
  giveRoles(stage.github, FLEET, { max: 'maintain' })
  await stage.settle()
  pull = await proposeViolation(stage, BRANCH)
  await nextSecond()
})
afterAll(() => stage?.close())

const files = () =>
  stage.github.filesOf(FLEET, TRAIL_BRANCH).map(path => ({
    path,
    bytes: Buffer.from(stage.github.readFile(FLEET, TRAIL_BRANCH, path) ?? ''),
  }))
const trail = () => verifyTrail(files())
const ada = () => new Octokit({ baseUrl: stage.github.url, auth: stage.github.tokenOf('ada') })
const place = { owner: 'acme', repo: 'fleet' }
const history = async () => (await ada().rest.repos.listCommits({ ...place, sha: TRAIL_BRANCH })).data
const force = (sha: string) => ada().rest.git.updateRef({ ...place, ref: `heads/${TRAIL_BRANCH}`, sha, force: true })
const isEntry = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === 'PUT' && decodeURIComponent(path).startsWith(`/repos/${FLEET}/contents/trail/`)
const anchors = () =>
  [REPO, FLEET]
    .flatMap(repo => stage.github.checkRunsOf(repo, repo === REPO ? BRANCH : 'main'))
    .map(run => anchorOf(run.externalId ?? ''))
    .filter(anchor => anchor !== undefined)

test('a verdict is an entry: what, of which commits, and its hash', () => {
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  const found = entries.filter(entry => entry.repository === REPO && entry.pull === pull)
  expect(found).toEqual([
    expect.objectContaining({
      kind: 'verdict',
      result: 'failure',
      commit: stage.github.commitOf(REPO, BRANCH),
      who: expect.stringMatching(/\[bot\]$/),
    }),
  ])
  const read = found[0]!.revisions.map(({ repository }) => repository)
  expect(read).toEqual(expect.arrayContaining([`https://github.com/${FLEET}`]))
})

test('an override is an entry with its author, and the reason is not in it', async () => {
  const { reactions } = await command(stage, {
    repo: REPO,
    issue: pull,
    as: 'max',
    body: `/bailiwick override ${REASON}`,
  })
  expect(reactions).toEqual(['eyes', 'rocket'])
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  const own = entries.filter(entry => entry.pull === pull).map(({ kind, who, result }) => [kind, who, result])
  expect(own).toContainEqual(['override', 'max', 'done'])
  expect(own).toContainEqual(['verdict', expect.stringMatching(/\[bot\]$/), 'success'])
  expect(
    files()
      .map(({ bytes }) => bytes.toString('utf8'))
      .join(''),
  ).not.toContain(REASON)
})

test('a hold is an entry, also by someone who decides for no fleet; a question is none', async () => {
  const before = trail().entries.length
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick status' })
  expect(trail().entries).toHaveLength(before)
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold' })
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })
  const added = trail().entries.slice(before)
  const own = added.map(({ kind, who, result }) => [kind, who, result])
  expect(own).toContainEqual(['hold', 'dora', 'done'])
  expect(own).toContainEqual(['unhold', 'dora', 'done'])
})

test('check runs note how far the trail had come, and saying the same again writes nothing', async () => {
  expect(anchors().length).toBeGreaterThan(0)
  expect(verifyTrail(files(), anchors()).problems).toEqual([])
  const before = { run: lastRun(stage.github, REPO, BRANCH)?.id, head: trail().head }
  await command(stage, { repo: REPO, issue: pull, as: 'max', body: '/bailiwick check' })
  expect(lastRun(stage.github, REPO, BRANCH)?.id).toBe(before.run)
  expect(trail().head).toEqual(before.head)
})

test('the branch has a history of its own, and one commit for each file', async () => {
  const commits = await history()
  expect(commits).toHaveLength(files().length)
  expect(commits.at(-1)?.parents).toEqual([])
  for (const { commit } of commits) expect(commit.message).toMatch(/^trail: entries \d+ to \d+ \[skip ci\]$/)
})

test('the first report lists what can rewrite the branch, and commits of someone else', async () => {
  await surveyAgain(stage)
  const before = reportOf(stage.github).body
  expect(before).toContain('### Trail')
  expect(before).toContain('force pushes can replace its entries')
  expect(before).not.toContain('this App did not write')
  const [last] = await history()
  const files = { 'trail/9999999999.jsonl': 'x\n' }
  stage.github.push({ repo: FLEET, branch: TRAIL_BRANCH, files, as: 'ada' })
  const forged = stage.github.commitOf(FLEET, TRAIL_BRANCH)
  await surveyAgain(stage)
  expect(reportOf(stage.github).body).toContain(`this App did not write \`${forged.slice(0, 10)}\``)
  await force(last!.sha)
})

test('a commit of someone else stops the trail, an issue says so, and it goes on when the branch is restored', async () => {
  const [last] = await history()
  const end = trail().head
  stage.github.push({ repo: FLEET, branch: TRAIL_BRANCH, files: { 'NOTES.md': 'harmless\n' }, as: 'ada' })
  const foreign = stage.github.commitOf(FLEET, TRAIL_BRANCH)
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold' })
  expect(stage.github.commitOf(FLEET, TRAIL_BRANCH)).toBe(foreign)
  const stopped = () =>
    [...stage.github.repositoryNamed(FLEET).issues.values()].filter(({ body }) =>
      (body ?? '').startsWith(`<!-- bailiwick:trail-stopped ${foreign} -->`),
    )
  expect(stopped().map(({ body }) => body)).toEqual([
    expect.stringContaining(`gh api -X PATCH repos/acme/fleet/git/refs/heads/${TRAIL_BRANCH} -f sha=${last!.sha}`),
  ])
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })
  expect(stopped()).toHaveLength(1)
  await force(last!.sha)
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold' })
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  const added = entries.filter(({ seq }) => seq > (end?.seq ?? 0)).map(({ kind }) => kind)
  expect(added.filter(kind => kind === 'hold')).toHaveLength(2)
  expect(added.filter(kind => kind === 'unhold')).toHaveLength(2)
  expect(stopped().map(({ body }) => body)).toEqual([
    expect.stringContaining('Bailiwick writes decisions to the branch `bailiwick/trail` again'),
  ])
})

test('a commit of someone else that comes just before an entry stops the trail until the branch is restored', async () => {
  const [last] = await history()
  const end = trail().head
  const reached = Promise.withResolvers<void>()
  const release = stage.github.hold(request => {
    if (isEntry(request)) reached.resolve()
    return isEntry(request)
  })
  stage.github.comment({ repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold' })
  await reached.promise
  stage.github.push({ repo: FLEET, branch: TRAIL_BRANCH, files: { 'NOTES.md': 'harmless\n' }, as: 'ada' })
  release()
  await stage.settle()
  const tip = stage.github.commitOf(FLEET, TRAIL_BRANCH)
  await force(last!.sha)
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })
  const marks = [...stage.github.repositoryNamed(FLEET).issues.values()].map(({ body }) => (body ?? '').split('\n')[0])
  expect(marks).toContain(`<!-- bailiwick:trail-stopped ${tip} -->`)
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  const added = entries.filter(({ seq }) => seq > (end?.seq ?? 0)).map(({ kind }) => kind)
  expect(added).toEqual(expect.arrayContaining(['hold', 'unhold']))
})

test('the buttons of a check are entries, with the pull requests that the App opens for them', async () => {
  await proposeViolation(stage, 'wants-a-waiver')
  const before = trail().entries.length
  const check = lastRun(stage.github, REPO, 'wants-a-waiver')!
  stage.github.requestAction({ repo: REPO, run: check, identifier: 'waive', as: 'dora' })
  await stage.settle()
  const added = trail().entries.slice(before)
  expect(added.map(({ kind, who, repository }) => [kind, who, repository])).toEqual(
    expect.arrayContaining([
      ['waiver', 'dora', REPO],
      ['pull-request', expect.stringMatching(/\[bot\]$/), FLEET],
    ]),
  )
  stage.github.requestAction({ repo: REPO, run: check, identifier: 'waive', as: 'dora' })
  await stage.settle()
  const again = trail().entries.slice(before + added.length)
  expect(again.filter(({ kind }) => kind === 'waiver' || kind === 'pull-request')).toEqual([])
})

test.each([
  [403, 'not permitted'],
  [409, 'a rule of the branch'],
])('where GitHub answers %s (%s), an issue says so, and decisions wait', async status => {
  const before = trail().entries.length
  let refuses = true
  stage.github.failNext(1_000, status, {}, request => refuses && isEntry(request))
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick hold' })
  expect(trail().entries).toHaveLength(before)
  const refused = () =>
    [...stage.github.repositoryNamed(FLEET).issues.values()].filter(({ body }) =>
      (body ?? '').startsWith('<!-- bailiwick:trail-stopped refused -->'),
    )
  expect(refused().map(({ body }) => body)).toEqual([expect.stringContaining('Contents: write')])
  refuses = false
  await command(stage, { repo: REPO, issue: pull, as: 'dora', body: '/bailiwick unhold' })
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  expect(entries.slice(before).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['hold', 'unhold']))
  expect(refused().map(({ body }) => body)).toEqual([expect.stringContaining('again')])
})

test('every entry names the fleet', () => {
  expect(new Set(trail().entries.map(({ fleet }) => fleet)).size).toBe(1)
  expect(trail().fleet).toBeGreaterThan(0)
})

test('a trail that was cut is not continued, and its decisions wait', async () => {
  const [last, parent] = await history()
  await force(parent!.sha)
  const end = trail().head
  await command(stage, { repo: REPO, issue: pull, as: 'max', body: '/bailiwick override another-reason' })
  expect(trail().head).toEqual(end)
  expect(verifyTrail(files(), anchors()).problems).not.toEqual([])
  await force(last!.sha)
  await command(stage, { repo: REPO, issue: pull, as: 'max', body: '/bailiwick override a-third-reason' })
  const { entries, problems } = trail()
  expect(problems).toEqual([])
  expect(entries.filter(({ kind }) => kind === 'override')).toHaveLength(3)
})

test('an approval is an entry with the name of who gave it, before the verdict that counts it', async () => {
  const { github } = stage
  const parent = github.commitOf(FLEET, 'main')
  github.push({
    repo: FLEET,
    branch: 'owners',
    parent,
    files: { '.github/CODEOWNERS': '* @acme/platform\n' },
    as: 'otto',
  })
  const { number } = github.openPullRequest({ repo: FLEET, head: 'owners', as: 'otto' }).issue
  await stage.settle()
  github.review({ repo: FLEET, pull: number, as: 'max', state: 'APPROVED' })
  await stage.settle()
  const own = trail().entries.filter(entry => entry.pull === number && entry.kind !== 'pull-request')
  expect(own.map(({ kind, result }) => [kind, result])).toEqual([
    ['verdict', 'failure'],
    ['approval', 'gate-config-change'],
    ['verdict', 'success'],
  ])
  expect(own[1]?.who).toBe('max')
})
