import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun, proposed } from './commands.ts'

const REPO = 'acme/dev-team'
const FILE = 'base/deployment.yaml'
const GOOD = fleetFiles(REPO)[FILE]!
const BAD = GOOD.replace('    spec:\n', '    spec:\n      hostNetwork: true # for the old cache\n')
const MENDED = GOOD.replace('    spec:\n', '    spec:\n      hostNetwork: false # for the old cache\n')

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const propose = (branch: string, text: string) =>
  proposed(stage, { repo: REPO, branch, files: { [FILE]: text }, as: 'dora' })

const reviewsOf = (pull: number) => stage.github.pullRequest(REPO, pull).reviews

test('a fix that is certain is suggested on its line, once', async () => {
  const pull = await propose('suggest', BAD)
  expect(lastRun(stage.github, REPO, 'suggest')?.conclusion).toBe('failure')
  const [review, ...more] = reviewsOf(pull)
  expect(more).toEqual([])
  expect(review).toMatchObject({ state: 'COMMENTED', commit: stage.github.commitOf(REPO, 'suggest') })
  expect(review?.comments).toHaveLength(1)
  const [comment] = review!.comments
  const line = BAD.split('\n').findIndex(text => text.includes('hostNetwork')) + 1
  expect(comment).toMatchObject({ path: FILE, line })
  expect(comment!.body).toContain('`pod-security`')
  expect(comment!.body).toContain('```suggestion\n      hostNetwork: false # for the old cache\n```')
  stage.github.push({ repo: REPO, branch: 'suggest', files: { 'base/note.txt': 'x' }, as: 'dora' })
  await stage.settle()
  expect(reviewsOf(pull)).toHaveLength(1)
}, 60_000)

/** What `git apply` makes of a file with the blocks of a comment, as a program reads them: CommonMark's fences at the start of a line. */
function applied(body: string, path: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-edit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, dirname(path)), { recursive: true })
  writeFileSync(join(folder, path), text)
  const blocks = [...body.matchAll(/^(`{3,})diff\n(--- [\s\S]*?)^\1$/gm)].map(([, , block]) => block!)
  expect(blocks.length).toBeGreaterThan(0)
  for (const input of blocks) execFileSync('git', ['apply', '-'], { cwd: folder, input })
  return readFileSync(join(folder, path), 'utf8')
}

test('the comment has each edit as a block that git applies, and then the verdict turns', async () => {
  const hostile = '      # ``` </details> ~~~ @dora\n'
  const bad = BAD.replace('      hostNetwork', `${hostile}      hostPID: true\n      hostNetwork`)
  const pull = await propose('blocks', bad)
  const { github } = stage
  const [comment] = github.commentsOf(REPO, pull).filter(({ body }) => body.includes('bailiwick:verdict'))
  expect(comment?.body).toContain('Edit, for `git apply`:')
  expect(comment?.body).toContain('````diff')
  const text = applied(comment!.body, FILE, bad)
  expect(text).toBe(MENDED.replace('      hostNetwork', `${hostile}      hostPID: false\n      hostNetwork`))
  github.push({ repo: REPO, branch: 'blocks', files: { [FILE]: text }, as: 'dora' })
  await stage.settle()
  expect(lastRun(github, REPO, 'blocks')?.conclusion).toBe('success')
}, 120_000)

test('the button commits every fix to the branch, and the verdict turns', async () => {
  const pull = await propose('apply', BAD)
  const run = lastRun(stage.github, REPO, 'apply')!
  stage.github.pressAction(REPO, run.id, 'fix', { as: 'dora' })
  await stage.settle()
  const head = stage.github.pullRequest(REPO, pull).head.sha
  expect(stage.github.readFile(REPO, 'apply', FILE)).toBe(MENDED)
  expect(head).not.toBe(run.headSha)
  expect(lastRun(stage.github, REPO, head)).toMatchObject({ status: 'completed', conclusion: 'success' })
  expect(lastRun(stage.github, REPO, head)?.actions.map(one => one.identifier)).not.toContain('fix')
  // the old run's button is still there on GitHub: it is about a head that is gone
  stage.github.pressAction(REPO, run.id, 'fix', { as: 'dora' })
  await stage.settle()
  expect(stage.github.pullRequest(REPO, pull).head.sha).toBe(head)
}, 60_000)

test('a fork gets no button and no commit, but the suggestion', async () => {
  const { github } = stage
  const fork = 'mallory/dev-team'
  github.addRepository({ owner: 'mallory', name: 'dev-team', forkOf: REPO })
  github.push({
    repo: fork,
    branch: 'idea',
    parent: github.commitOf(fork, 'main'),
    files: { [FILE]: BAD },
    as: 'mallory',
  })
  const { number } = github.openPullRequest({ repo: REPO, headRepo: fork, head: 'idea', as: 'mallory' }).issue
  await stage.settle()
  const head = github.pullRequest(REPO, number).head.sha
  const run = github.checkRunsOf(REPO, `refs/pull/${number}/head`).at(-1)
  expect(run?.conclusion).toBe('failure')
  expect(run?.actions.map(one => one.identifier)).not.toContain('fix')
  expect(reviewsOf(number)).toHaveLength(1)
  expect(github.commitOf(fork, 'idea')).toBe(head)
}, 60_000)

test('the other button asks the admins of the fleet for a waiver', async () => {
  const { github } = stage
  const pull = await propose('waive', BAD)
  const run = lastRun(github, REPO, 'waive')!
  const before = github.pullRequestsOf('acme/fleet').length
  github.pressAction(REPO, run.id, 'waive', { as: 'dora' })
  await stage.settle()
  const [asked, ...more] = github.pullRequestsOf('acme/fleet').slice(before)
  expect(more).toEqual([])
  const config = github.readFile('acme/fleet', asked!.head.sha, '.github/bailiwick.yaml')
  expect(config).toContain('rule: pod-security')
  expect(config).toContain('requester: dora')
  expect(config).not.toContain('approver:')
  const replies = github.commentsOf(REPO, pull).filter(one => one.body.includes('Requested a waiver'))
  expect(replies).toHaveLength(1)
}, 60_000)
