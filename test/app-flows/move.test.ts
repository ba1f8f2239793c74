import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AUTH, FLEET, TEAM } from '../story/sealed-fleet.ts'
import { lastRun } from './commands.ts'
import { type OpsTeam, openOpsTeam } from './ops-team.ts'

const MOVE = '/bailiwick move ops-team --to production'
const TENANTS = 'clusters/production/tenants.yaml'
let stage: OpsTeam['stage']
let say: OpsTeam['say']
let merge: OpsTeam['merge']
beforeAll(async () => {
  ;({ stage, say, merge } = await openOpsTeam())
}, 120_000)
afterAll(() => stage?.close())

const pulls = (end: 'arrival' | 'workloads' | 'rest') =>
  stage.github
    .pullRequestsOf(FLEET)
    .filter(({ head }) => head.ref.startsWith('bailiwick/move-ops-team-') && head.ref.endsWith(end))
const overlay = (cluster: string) => stage.github.readFile(FLEET, 'main', `tenants/${cluster}/kustomization.yaml`)!

/** The new cluster decrypts too, and puts nothing into a namespace that the files do not name. */
function makeFit(): void {
  const { github } = stage
  const text = github.readFile(FLEET, 'main', TENANTS)!
  const decryption = '  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n'
  const files = {
    [TENANTS]: text.replace('  prune: true\n', `  prune: true\n${decryption}`),
    'tenants/production/kustomization.yaml': overlay('production').replace('namespace: apps\n', ''),
  }
  github.push({ repo: FLEET, files, as: 'ada' })
}

describe('a tenant moves to another cluster of a fleet that Flux applies', () => {
  test('only fleet admins may ask, and only for what can be', async () => {
    expect((await say(MOVE, 'otto')).reactions).toEqual(['-1'])
    expect((await say('/bailiwick move ops-team')).replies.join()).toContain('`--to` is missing')
    expect((await say(`${MOVE} --continue`)).replies.join()).toContain(
      'is encrypted, and `production/flux-system/tenants` does not decrypt',
    )
    expect((await say('/bailiwick move dev-team --to production')).replies.join()).toContain(
      'tenant dev-team is on production already',
    )
    expect(pulls('arrival')).toEqual([])
  })

  test('the first pull request adds it as it is, and is evaluated like every other', async () => {
    makeFit()
    await stage.settle()
    expect((await say(`${MOVE} --continue`)).replies.join()).toContain('the tenant is not on production')
    expect((await say(MOVE)).reactions).toContain('rocket')
    const [first] = pulls('arrival')
    expect(first!.issue.title).toBe('Move tenant ops-team to production')
    expect(first!.issue.body).toContain('on `production`: `GitRepository ops/ops-team`')
    expect(first!.issue.body).toContain('production must have a key that decrypts Secret ops/ops-team-auth')
    expect(lastRun(stage.github, FLEET, first!.head.ref)).toMatchObject({ conclusion: 'success' })
    expect(lastRun(stage.github, FLEET, first!.head.ref, 'bailiwick / override')).toBeUndefined()
  })

  test('merged: it leaves the old cluster when an admin says that it runs on the new one', async () => {
    await merge(pulls('arrival')[0]!.issue.number)
    expect([overlay('production'), overlay('staging')].map(text => text.includes('ops-team'))).toEqual([true, true])
    expect(pulls('workloads')).toEqual([])
    expect((await say(MOVE)).replies.join()).toContain(
      'No worker of Bailiwick applies to `production`. When the tenant runs there',
    )
    expect((await say(`${MOVE} --continue`)).reactions).toContain('rocket')
    const [second] = pulls('workloads')
    expect(second!.issue.body).toContain('on `staging`: `Kustomization ops/ops-team`')
    expect(second!.issue.body).toContain('the second of three pull requests')
    expect(lastRun(stage.github, FLEET, second!.head.ref)).toMatchObject({ conclusion: 'success' })
  })

  test('and then its account there; its key and its files stay', async () => {
    await merge(pulls('workloads')[0]!.issue.number)
    expect(pulls('rest')).toEqual([])
    expect((await say(`${MOVE} --continue`)).reactions).toContain('rocket')
    await merge(pulls('rest')[0]!.issue.number)
    expect([overlay('production'), overlay('staging')].map(text => text.includes('ops-team'))).toEqual([true, false])
    expect(stage.github.filesOf(FLEET, 'main')).toContain(AUTH)
    expect(stage.github.repositoryNamed(TEAM).deployKeys).toHaveLength(1)
    expect((await say(MOVE)).replies.join()).toContain('nothing of tenant ops-team')
  })
})
