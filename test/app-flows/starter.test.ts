import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles } from './commands.ts'

const FLEET = 'acme/fleet'
const TEAM = 'acme/web-team'
const BRANCH = 'bailiwick/start-web-team'
const LINE =
  '/bailiwick onboard web-team --repo https://github.com/acme/web-team --namespace web --cluster staging --role edit --team acme/web --starter pull-request'

let stage: Stage
let issue = 0
async function open(): Promise<void> {
  stage = await startStage({
    prepare: github => {
      const roles = { ada: 'admin', dora: 'write' } as const
      github.addRepository({ owner: 'acme', name: 'web-team', files: { 'notes.txt': 'x\n' }, roles })
    },
  })
  issue = stage.github.issue({ repo: FLEET, title: 'A tenant', body: 'please', as: 'ada' }).number
  await stage.settle()
}
beforeEach(open, 60_000)
afterEach(() => stage?.close())

const pulls = () => stage.github.pullRequestsOf(TEAM)
const onboard = (line = LINE) => command(stage, { repo: FLEET, issue, as: 'ada', body: line })

test('the repository of the tenant gets the first files, and what to set', async () => {
  const { replies } = await onboard()
  const [pull, ...more] = pulls()
  expect(more).toEqual([])
  expect(replies.join()).toContain("The pull request for the tenant's repository: ")
  expect(stage.github.filesOf(TEAM, BRANCH).sort()).toEqual([
    '.github/CODEOWNERS',
    'README.md',
    'example.yaml',
    'kustomization.yaml',
    'notes.txt',
  ])
  expect(stage.github.readFile(TEAM, BRANCH, '.github/CODEOWNERS')).toBe('* @acme/web\n')
  expect(stage.github.readFile(TEAM, BRANCH, 'kustomization.yaml')).toContain('namespace: web\n')
  expect(pull!.issue.body).toContain('require the status check `bailiwick / tenancy` for the branch `main`')
  // other people read it: it names nothing of the fleet
  expect(pull!.issue.body).not.toMatch(/acme\/fleet|staging/)
  // once more: the same pull request
  const head = stage.github.commitOf(TEAM, BRANCH)
  await onboard()
  expect([pulls().length, stage.github.commitOf(TEAM, BRANCH)]).toEqual([1, head])
}, 60_000)

test('a pull request that people closed stays closed', async () => {
  await onboard()
  stage.github.closePullRequest({ repo: TEAM, pull: pulls()[0]!.issue.number, as: 'ada' })
  await stage.settle()
  const { replies } = await onboard()
  expect(replies.join()).toContain('it was opened before, and people closed or merged it')
  expect(pulls().map(pull => pull.issue.state)).toEqual(['closed'])
}, 60_000)

test('interrupted after the first pull request, at each request of the second: the next attempt has one in each', async () => {
  const branches = { [FLEET]: 'bailiwick/onboard-web-team', [TEAM]: BRANCH }
  for (const end of ['/git/commits', '/git/refs', '/pulls']) {
    let failed = false
    stage.github.failNext(1, 502, {}, ({ method, path }) => {
      const isIt = method === 'POST' && path === `/repos/${TEAM}${end}`
      failed ||= isIt
      return isIt
    })
    await onboard()
    expect([end, failed]).toEqual([end, true])
    await onboard()
    for (const [name, branch] of Object.entries(branches)) {
      const open = stage.github.pullRequestsOf(name).filter(one => one.head.ref === branch)
      expect([end, name, open.map(({ issue: { state } }) => state)]).toEqual([end, name, ['open']])
    }
    await beginAgain(Object.entries(branches))
  }
}, 120_000)

/** As if nobody had asked: pull requests, their branches and the repository of the tenant are new. */
async function beginAgain(branches: readonly (readonly [string, string])[]): Promise<void> {
  await stage.close()
  await open()
  expect(branches.flatMap(([name]) => stage.github.pullRequestsOf(name))).toEqual([])
}

test('a requester who does not administer the repository of the tenant gets none', async () => {
  giveRoles(stage.github, FLEET, { dora: 'maintain' })
  await stage.settle()
  const { replies } = await command(stage, { repo: FLEET, issue, as: 'dora', body: LINE })
  expect([pulls(), stage.github.pullRequestsOf(FLEET)]).toEqual([[], []])
  expect(replies.join()).toContain('the role there is write')
}, 60_000)

test('without the option there is none', async () => {
  const { replies } = await onboard(LINE.replace(' --starter pull-request', ''))
  expect([replies, pulls()]).toEqual([[], []])
}, 60_000)

test('a repository that has all of it gets none', async () => {
  const files = { 'README.md': 'x\n', 'apps/web.yaml': 'a: 1\n', CODEOWNERS: '* @ada\n' }
  stage.github.push({ repo: TEAM, files, as: 'ada' })
  await stage.settle()
  expect((await onboard()).replies.join()).toContain('the repository has these files already')
  expect(pulls()).toEqual([])
}, 60_000)
