import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AUTH, FLEET, TEAM } from '../story/sealed-fleet.ts'
import { lastRun } from './commands.ts'
import { type OpsTeam, openOpsTeam } from './ops-team.ts'

const OFFBOARD = '/bailiwick offboard ops-team'
let stage: OpsTeam['stage']
let say: OpsTeam['say']
let merge: OpsTeam['merge']
beforeAll(async () => {
  ;({ stage, say, merge } = await openOpsTeam())
}, 120_000)
afterAll(() => stage?.close())

const pulls = (stageOf: 'workloads' | 'rest') =>
  stage.github
    .pullRequestsOf(FLEET)
    .filter(({ head }) => head.ref.startsWith('bailiwick/offboard-ops-team-') && head.ref.endsWith(stageOf))
const has = (path: string) => stage.github.filesOf(FLEET, 'main').includes(path)

describe('a tenant leaves a fleet that Flux applies', () => {
  test('only fleet admins may ask, and only for a tenant that is there', async () => {
    expect((await say(OFFBOARD, 'otto')).reactions).toEqual(['-1'])
    const unknown = await say('/bailiwick offboard nobody')
    expect(unknown.reactions).toContain('confused')
    expect(unknown.replies.join()).toContain('the fleet has nothing of tenant nobody there')
    expect((await say(`${OFFBOARD} --continue`)).replies.join()).toContain('the workloads are still in the fleet')
    expect(pulls('workloads')).toEqual([])
  })

  test.each(['move', 'rename', 'hand-over'])(
    '/bailiwick %s was removed: one reply says what to do instead',
    async name => {
      const { reactions, replies } = await say(`/bailiwick ${name} ops-team --to web`)
      expect([reactions, replies.length]).toEqual([['confused'], 1])
      expect(replies[0]).toContain(`/bailiwick ${name}: removed. Write the change by hand as a pull request`)
      expect(stage.github.pullRequestsOf(FLEET).filter(({ head }) => head.ref.includes(name))).toEqual([])
    },
  )

  test.each([
    ['before the commit', 'POST', '/git/commits'],
    ['before the branch', 'POST', '/git/refs'],
    ['before the pull request', 'POST', '/pulls'],
    ['before the approval', 'POST', '/check-runs'],
  ])('an outage %s: one pull request in the end', async (_name, method, end) => {
    stage.github.failNext(1, 502, {}, request => request.method === method && request.path.endsWith(end))
    expect((await say(OFFBOARD)).reactions).toContain('rocket')
    expect(pulls('workloads')).toHaveLength(1)
  })

  test('the first pull request says what is deleted, and may be merged: its admin approved exactly that commit', () => {
    const [first] = pulls('workloads')
    expect(first!.issue.title).toBe('Offboard tenant ops-team: workloads')
    expect(first!.issue.body).toContain('on `staging`: `Kustomization ops/ops-team`')
    expect(first!.issue.body).toContain('`staging/ops/ops-team` deletes everything that it applied')
    expect(first!.issue.body).toContain('The command of a fleet admin agrees to it, for exactly this commit')
    expect(lastRun(stage.github, FLEET, first!.head.ref)).toMatchObject({ conclusion: 'success' })
    expect(lastRun(stage.github, FLEET, first!.head.ref, 'bailiwick / override')).toMatchObject({
      output: { title: expect.stringContaining('Overridden by ada: offboarding of tenant ops-team') },
    })
  })

  test('a commit of somebody else on its branch has no approval', async () => {
    const [first] = pulls('workloads')
    const files = { 'tenants/base/ops-team/rbac.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n' }
    stage.github.push({ repo: FLEET, branch: first!.head.ref, files, as: 'otto' })
    await stage.settle()
    expect(lastRun(stage.github, FLEET, first!.head.ref)).toMatchObject({ conclusion: 'failure' })
    stage.github.closePullRequest({ repo: FLEET, pull: first!.issue.number, as: 'ada' })
    await stage.settle()
    expect((await say(OFFBOARD)).replies.join()).toContain('is in use')
    stage.github.repositoryNamed(FLEET).refs.delete(`refs/heads/${first!.head.ref}`)
    expect((await say(OFFBOARD)).reactions).toContain('rocket')
    expect(pulls('workloads').filter(one => one.issue.state === 'open')).toHaveLength(1)
  })

  test('merged: account, role, source and key stay until an admin says that the first is applied', async () => {
    await merge(pulls('workloads').at(-1)!.issue.number)
    expect(pulls('rest')).toEqual([])
    expect([has(AUTH), has('tenants/base/ops-team/rbac.yaml')]).toEqual([true, true])
    const { replies } = await say(OFFBOARD)
    expect(replies.join()).toContain('No worker of Bailiwick applies to `staging`')
    expect(replies.join()).toContain(`${OFFBOARD} --continue`)
    expect((await say(`${OFFBOARD} --continue`)).reactions).toContain('rocket')
    expect((await say(`${OFFBOARD} --continue`)).reactions).toContain('rocket')
    expect(pulls('rest')).toHaveLength(1)
    const [second] = pulls('rest')
    expect(second!.issue.body).toContain('PersistentVolumeClaims and their data too')
    expect(lastRun(stage.github, FLEET, second!.head.ref)).toMatchObject({ conclusion: 'success' })
  })

  test('the second merged: nothing of it is left, the deploy key neither', async () => {
    expect(stage.github.repositoryNamed(TEAM).deployKeys).toHaveLength(1)
    await merge(pulls('rest')[0]!.issue.number)
    expect(stage.github.filesOf(FLEET, 'main').filter(path => path.includes('ops-team'))).toEqual([])
    expect(stage.github.repositoryNamed(TEAM).deployKeys).toEqual([])
    expect(has('tenants/base/dev-team/sync.yaml')).toBe(true)
    expect((await say(OFFBOARD)).replies.join()).toContain('the fleet has nothing of tenant ops-team there')
  })
})
