import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun, nextSecond, proposeViolation } from './commands.ts'

const TEAM = 'acme/dev-team'
const FLEET = 'acme/fleet'
const FILE = '.github/bailiwick.yaml'
const KEPT = `# what this fleet asks for
profile: restricted   # as ever

# kept for the demo
waivers:
  # the login is on the front page
  - rule: plaintext-secret
    object: {kind: Secret, namespace: apps, name: demo}
    reason: A demo.
    approver: ada
    expires: 2999-12-31 # never mind
allowedKubeConfigs: []
`
let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, TEAM, { rita: 'triage', will: 'write' })
  giveRoles(stage.github, FLEET, { max: 'maintain', dora: 'maintain' })
  stage.github.push({ repo: FLEET, files: { [FILE]: KEPT }, as: 'ada' })
  await stage.settle()
  pull = await proposeViolation(stage, 'leaves')
})
afterAll(() => stage?.close())

const say = (as: string, body: string) => command(stage, { repo: TEAM, issue: pull, as, body })
const onFleet = (as: string, body: string, issue = waivers()[0]!.issue.number) =>
  command(stage, { repo: FLEET, issue, as, body })
const waivers = () => stage.github.pullRequestsOf(FLEET).filter(one => one.head.ref.startsWith('bailiwick/waive-'))
const file = (ref: string) => stage.github.readFile(FLEET, ref, FILE)
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

test('who may not write may not ask, and what is asked for must make sense', async () => {
  const wish = '/bailiwick waive namespace-confinement please'
  expect(await say('mallory', wish)).toEqual({ reactions: ['-1'], replies: [] })
  expect(await say('rita', wish)).toEqual({
    reactions: ['-1'],
    replies: [expect.stringContaining('it needs write access')],
  })
  const refusals = {
    '/bailiwick waive': 'is missing',
    '/bailiwick waive namespace-confinement': 'a reason is needed',
    '/bailiwick waive namespace-confinment moving': 'unknown rule',
    '/bailiwick waive sa-required moving': 'has no such violation',
    '/bailiwick waive 00000000 moving': 'no finding here starts with',
    [`/bailiwick waive namespace-confinement --until ${day(91)} moving`]: 'more than 90 days',
    [`/bailiwick waive namespace-confinement --until ${day(-1)} moving`]: 'is in the past',
    '/bailiwick waive namespace-confinement --until 2026-02-30 moving': 'is not a date',
  }
  for (const [body, why] of Object.entries(refusals)) {
    const { reactions, replies } = await say('dora', body)
    expect([body, reactions]).toEqual([body, ['eyes', 'confused']])
    expect(replies[0]).toContain(why)
  }
  expect(waivers()).toEqual([])
})

test('a writer asks: a pull request on the fleet adds the waiver, and nothing else of its file changes', async () => {
  expect(await say('will', '/bailiwick waive namespace-confinement The report moves in May.')).toEqual({
    reactions: ['eyes', 'rocket'],
    replies: [],
  })
  const [opened] = waivers()
  expect(opened?.issue.title).toBe(`Waive namespace-confinement for acme/dev-team#${pull} until ${day(30)}`)
  for (const word of ['`will`', '`dora`', 'The report moves in May.', 'approve-waiver']) {
    expect(opened?.issue.body).toContain(word)
  }
  expect(file(opened!.head.sha)?.replace(/[0-9a-f]{32}/, 'FINGERPRINT')).toBe(
    KEPT.replace(
      '# never mind\n',
      `# never mind
  - rule: namespace-confinement
    object:
      kind: apps/Deployment
      namespace: kube-system
      name: leaves
    cluster: staging
    violations: [{fingerprint: "FINGERPRINT", severity: critical, field: "/metadata/namespace"}]
    reason: "The report moves in May."
    requester: will
    expires: "${day(30)}"
`,
    ),
  )
})

test('asking again brings it up to date', async () => {
  await say('will', `/bailiwick waive namespace-confinement --until ${day(10)} The report moves in April.`)
  expect(waivers()).toHaveLength(1)
  expect(file(waivers()[0]!.head.sha)).toContain(`expires: "${day(10)}"`)
  expect(waivers()[0]?.issue.body).toContain('April')
})

test('neither who asked, nor who wrote the change, nor who does not decide for the fleet approves it', async () => {
  await nextSecond()
  expect(await onFleet('otto', '/bailiwick approve-waiver')).toEqual({
    reactions: ['-1'],
    replies: [expect.stringContaining('you are not a fleet admin')],
  })
  giveRoles(stage.github, FLEET, { will: 'admin' })
  expect((await onFleet('will', '/bailiwick approve-waiver')).replies[0]).toContain(
    'a fleet admin cannot approve their own request',
  )
  expect((await onFleet('dora', '/bailiwick approve-waiver')).replies[0]).toContain('for their own change')
  expect(file(waivers()[0]!.head.sha)).not.toContain('approver: will')
})

test('a branch that somebody changed is not what was asked for', async () => {
  const { head } = waivers()[0]!
  const text = file(head.sha)!.replace('requester: will', 'requester: mallory')
  stage.github.push({ repo: FLEET, branch: head.ref, files: { [FILE]: text }, as: 'will' })
  await stage.settle()
  for (const as of ['will', 'ada']) {
    const { replies } = await onFleet(as, '/bailiwick approve-waiver')
    expect(replies[0]).toContain('no longer matches the request')
  }
  const again = await say('will', '/bailiwick waive namespace-confinement The report moves in May.')
  expect(again.replies[0]).toContain('it has a commit of someone else')
  stage.github.closePullRequest({ repo: FLEET, pull: waivers()[0]!.issue.number, as: 'ada' })
  stage.github.pushRef({ repo: FLEET, branch: head.ref, sha: null, as: 'ada' })
  await stage.settle()
  await say('will', '/bailiwick waive namespace-confinement The report moves in May.')
})

test('merged without an approver it counts for nothing', async () => {
  const { github } = stage
  const opened = waivers().findLast(one => one.issue.state === 'open')!
  expect(github.merge({ repo: FLEET, pull: opened.issue.number, as: 'ada' })).toMatchObject({ status: 200 })
  await stage.settle()
  await say('will', '/bailiwick check')
  const run = lastRun(github, TEAM, 'leaves')
  expect(run).toMatchObject({ conclusion: 'failure' })
  expect(run?.output.summary).toContain('only its requester has accepted it')
})

test('approved by somebody else and merged, the violation is waived', async () => {
  const { github } = stage
  await say('will', '/bailiwick waive namespace-confinement The report moves in June.')
  const { issue } = waivers().findLast(one => one.issue.state === 'open')!
  const run = () => lastRun(github, FLEET, waivers().find(one => one.issue === issue)!.head.sha, 'bailiwick / waiver')
  expect(run()).toMatchObject({ conclusion: 'action_required' })
  await nextSecond()
  expect(await onFleet('max', '/bailiwick approve-waiver', issue.number)).toEqual({
    reactions: ['eyes', 'rocket'],
    replies: [],
  })
  expect(run()).toMatchObject({ conclusion: 'success', output: { title: 'Approved by max' } })
  const { sha } = waivers().find(one => one.issue === issue)!.head
  expect(issue.body).toContain('Approved by `max`. Next: merge it.')
  expect(lastRun(github, FLEET, sha), 'the command is the approval').toMatchObject({ conclusion: 'success' })
  expect(file(waivers().find(one => one.issue === issue)!.head.sha)).toContain('approver: max')
  expect(github.merge({ repo: FLEET, pull: issue.number, as: 'ada' })).toMatchObject({ status: 200 })
  await stage.settle()
  await say('will', '/bailiwick check')
  expect(lastRun(github, TEAM, 'leaves')).toMatchObject({ conclusion: 'success' })
  expect(file('main')).toContain('# the login is on the front page')
})

test('on other pull requests there is nothing to approve', async () => {
  const { github } = stage
  github.push({
    repo: FLEET,
    branch: 'bailiwick/waive-mine',
    files: { x: 'x' },
    parent: github.commitOf(FLEET, 'main'),
    as: 'will',
  })
  const { number } = github.openPullRequest({ repo: FLEET, head: 'bailiwick/waive-mine', as: 'will' }).issue
  await stage.settle()
  expect((await onFleet('ada', '/bailiwick approve-waiver', number)).replies[0]).toContain(
    'does not come from a waive command',
  )
  expect(await say('ada', '/bailiwick approve-waiver')).toEqual({
    reactions: ['-1'],
    replies: [expect.stringContaining('this repository is not a designated fleet')],
  })
})

test('the button of the check asks for every violation that is new, for who may write', async () => {
  const { github } = stage
  const other = await proposeViolation(stage, 'leaves-too')
  const run = lastRun(github, TEAM, 'leaves-too')!
  const press = async (as: string) => {
    const { id: installation } = [...github.world.installations.values()][0]!
    const keys = { installation, owner: 'acme', repo: 'dev-team', check: run.id, action: 'waive' as const }
    await stage.site.queue.add('check-action', { ...keys, login: as })
    await stage.settle()
    return waivers().filter(one => one.issue.body?.includes(`acme/dev-team#${other} `))
  }
  expect(await press('rita')).toEqual([])
  expect(await press('dora')).toHaveLength(1)
  expect(await press('dora'), 'twice is once').toHaveLength(1)
})

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
