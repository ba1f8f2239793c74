import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseOnboardArguments } from '../../src/onboard/parse-command.ts'
import { planOnboarding } from '../../src/onboard/plan.ts'
import { fleetFiles } from '../fleets/read-fleet.ts'
import { treeOf } from '../git/tree-of.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, lastRun } from './commands.ts'

const FLEET = 'acme/fleet'
const FORK = 'mallory/fleet'
const RBAC = 'tenants/base/web-team/rbac.yaml'
const SYNC = 'tenants/base/web-team/sync.yaml'
const ARGS = ['web-team', '--repo', 'https://github.com/acme/web-team', '--namespace', 'web', '--cluster', 'staging']

/** The files of a whole tenant, by path. */
const WHOLE = Object.fromEntries(
  planOnboarding(
    parseOnboardArguments([...ARGS, '--role', 'edit']),
    treeOf(fleetFiles(FLEET)),
    'https://github.com/acme/fleet',
    'main',
  ).files.map(({ path, content }) => [path, content]),
)
const NO_BINDING = WHOLE[RBAC]!.split(/^(?=---\n)/m)
  .filter(text => !text.includes('kind: RoleBinding'))
  .join('')
const { [SYNC]: _, ...WITHOUT_SYNC } = WHOLE

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  stage.github.addRepository({ owner: 'mallory', name: 'fleet', forkOf: FLEET })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

async function propose(branch: string, files: Record<string, string>, from: { fork?: string } = {}): Promise<number> {
  const as = from.fork === undefined ? 'ada' : 'mallory'
  const { github } = stage
  const repo = from.fork ?? FLEET
  github.push({ repo, branch, parent: github.commitOf(repo, 'main'), files, as })
  const headRepo = from.fork === undefined ? {} : { headRepo: from.fork }
  const { number } = github.openPullRequest({ repo: FLEET, head: branch, as, ...headRepo }).issue
  await stage.settle()
  return number
}

const commentsOn = (pull: number) => stage.github.commentsOf(FLEET, pull).map(({ body }) => body)
const complete = (issue: number, as = 'ada') =>
  command(stage, { repo: FLEET, issue, as, body: '/bailiwick complete web-team' })

test('what is missing is offered on its line and in the comment, and committed by the command', async () => {
  const branch = `binding-${stage.github.pullRequestsOf(FLEET).length}`
  const pull = await propose(branch, { ...WHOLE, [RBAC]: NO_BINDING })
  const [review] = stage.github.pullRequest(FLEET, pull).reviews
  const [suggestion] = review!.comments
  expect(review!.body).toBe('One suggestion adds what a new tenant lacks.')
  expect(suggestion).toMatchObject({ path: RBAC, line: NO_BINDING.trimEnd().split('\n').length })
  expect(suggestion!.body).toContain('kind: RoleBinding')
  const [said] = commentsOn(pull).filter(body => body.includes('is not complete'))
  expect(said).toContain('kind: RoleBinding')
  expect(said).toContain('`/bailiwick complete web-team`')
  expect(await complete(pull)).toEqual({ reactions: ['eyes', 'rocket'], replies: [] })
  expect(stage.github.readFile(FLEET, branch, RBAC)).toBe(WHOLE[RBAC])
  expect(lastRun(stage.github, FLEET, branch)).toMatchObject({ conclusion: 'success' })
  expect(commentsOn(pull).filter(body => body.includes('is not complete'))).toEqual([])
  // once more: nothing is missing now
  const head = stage.github.commitOf(FLEET, branch)
  expect((await complete(pull)).replies.join()).toContain('knows of no file that web-team certainly lacks')
  expect(stage.github.commitOf(FLEET, branch)).toBe(head)
}, 60_000)

test('a whole tenant gets no offer', async () => {
  const pull = await propose(`whole-${stage.github.pullRequestsOf(FLEET).length}`, WHOLE)
  expect(commentsOn(pull).join()).not.toContain('is not complete')
}, 60_000)

test('who may not write gets nothing committed', async () => {
  const branch = `stranger-${stage.github.pullRequestsOf(FLEET).length}`
  const pull = await propose(branch, { ...WHOLE, [RBAC]: NO_BINDING })
  const head = stage.github.commitOf(FLEET, branch)
  expect((await complete(pull, 'mallory')).reactions).not.toContain('rocket')
  expect(stage.github.commitOf(FLEET, branch)).toBe(head)
}, 60_000)

test('a branch of a fork is never written to, and its comment names no command', async () => {
  const { github } = stage
  const branch = `idea-${github.pullRequestsOf(FLEET).length}`
  const pull = await propose(branch, WITHOUT_SYNC, { fork: FORK })
  const head = github.commitOf(FORK, branch)
  expect(commentsOn(pull).join()).not.toContain('/bailiwick complete')
  expect((await complete(pull)).replies.join()).toContain('the branch is in a fork')
  expect(github.commitOf(FORK, branch)).toBe(head)
}, 60_000)
