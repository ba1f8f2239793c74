import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FLEET } from '../story/sealed-fleet.ts'
import { lastRun } from './commands.ts'
import { type OpsTeam, openOpsTeam } from './ops-team.ts'

const RENAME = '/bailiwick rename ops-team --to operators'
const HAND_OVER = '/bailiwick hand-over ops --to dev-team'
const WHY = 'hand-over of namespace ops to tenant dev-team, in two pull requests'
let stage: OpsTeam['stage']
let say: OpsTeam['say']
let merge: OpsTeam['merge']
beforeAll(async () => {
  ;({ stage, say, merge } = await openOpsTeam())
}, 120_000)
afterAll(() => stage?.close())

const pulls = (verb: 'rename-ops-team' | 'hand-over-dev-team', end: 'arrival' | 'switch' | 'rest') =>
  stage.github
    .pullRequestsOf(FLEET)
    .filter(({ head }) => head.ref.startsWith(`bailiwick/${verb}-`) && head.ref.endsWith(end))
const files = () =>
  stage.github
    .filesOf(FLEET, 'main')
    .filter(path => path.startsWith('tenants/base/ops-team/'))
    .map(path => stage.github.readFile(FLEET, 'main', path))
    .join('')

describe('a tenant of a fleet that Flux applies gets another name', () => {
  test('only fleet admins may ask, and only for what can be', async () => {
    expect((await say(RENAME, 'otto')).reactions).toEqual(['-1'])
    expect((await say('/bailiwick rename ops-team')).replies.join()).toContain('`--to` is missing')
    expect((await say('/bailiwick rename ops-team --to dev-team')).replies.join()).toContain('already exists')
    expect((await say(`${RENAME} --continue`)).replies.join()).toContain('nothing is named operators yet')
    expect(pulls('rename-ops-team', 'arrival')).toEqual([])
  })

  test('first the new account comes, which the check passes without an override', async () => {
    expect((await say(RENAME)).reactions).toContain('rocket')
    const [first] = pulls('rename-ops-team', 'arrival')
    expect(first!.issue.body).toContain('ServiceAccount ops/operators')
    expect(lastRun(stage.github, FLEET, first!.head.ref)).toMatchObject({ conclusion: 'success' })
    expect(lastRun(stage.github, FLEET, first!.head.ref, 'bailiwick / override')).toBeUndefined()
    await merge(first!.issue.number)
    expect(files()).toContain('serviceAccountName: ops-team')
    expect((await say(RENAME)).replies.join()).toContain('When the change is applied there')
  })

  test('then the owner changes', async () => {
    expect((await say(`${RENAME} --continue`)).reactions).toContain('rocket')
    const [second] = pulls('rename-ops-team', 'switch')
    const run = lastRun(stage.github, FLEET, second!.head.ref)
    expect(run).toMatchObject({ conclusion: 'success' })
    expect(run!.output.summary).toContain('rename of tenant ops-team to operators, in three pull requests')
    expect(run!.output.summary).toContain('1 violation (critical)')
    expect(run!.output.summary).toContain('gives it, with everything in it, to `operators`')
    await merge(second!.issue.number)
    expect(files()).toContain('serviceAccountName: operators')
    expect(files()).toContain('name: ops-team-reconciler')
  })

  test('then the old account goes', async () => {
    expect((await say(`${RENAME} --continue`)).reactions).toContain('rocket')
    const [third] = pulls('rename-ops-team', 'rest')
    expect(lastRun(stage.github, FLEET, third!.head.ref)).toMatchObject({ conclusion: 'success' })
    expect(lastRun(stage.github, FLEET, third!.head.ref, 'bailiwick / override')).toBeUndefined()
    await merge(third!.issue.number)
    expect(files()).not.toContain('name: ops-team-reconciler')
    expect((await say(RENAME)).replies.join()).toContain('the fleet has nothing left to change')
  })
})

describe('a namespace of it gets another tenant', () => {
  test('first its owner changes, and the check explains what that means', async () => {
    expect((await say(HAND_OVER)).reactions).toContain('rocket')
    const [first] = pulls('hand-over-dev-team', 'switch')
    expect(first!.issue.body).toContain('tenant dev-team can then read every Secret of ops')
    const run = lastRun(stage.github, FLEET, first!.head.ref)
    expect(run).toMatchObject({ conclusion: 'success' })
    expect(run!.output.summary).toContain(`**Overridden by \`ada\`**, for this commit only: ${WHY}`)
    expect(run!.output.summary).toContain('gives it, with everything in it, to `dev-team`')
    await merge(first!.issue.number)
    expect(pulls('hand-over-dev-team', 'rest')).toEqual([])
    expect((await say(HAND_OVER)).replies.join()).toContain('the fleet has nothing left to change')
  })
})
