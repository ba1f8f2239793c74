import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, nextSecond, proposeViolation } from './commands.ts'

const TEAM = 'acme/dev-team'
const FLEET = 'acme/fleet'
const FILE = '.github/bailiwick.yaml'
let stage: Stage
let pull: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, TEAM, { will: 'write' })
  await stage.settle()
  pull = await proposeViolation(stage, 'leaves')
})
afterAll(() => stage?.close())

const say = (body: string) => command(stage, { repo: TEAM, issue: pull, as: 'will', body })

/** All that is read on the tenant's repository. */
function told(): string {
  const { github } = stage
  // not the whole run: the key of the App that hangs on it spells anything by chance
  const runs = github.checkRunsOf(TEAM, 'leaves').map(run => [run.output, run.annotations, run.actions, run.externalId])
  return JSON.stringify([runs, github.commentsOf(TEAM, pull).map(({ body }) => body)])
}

test('a fleet’s file that cannot take a waiver is not quoted to a tenant', async () => {
  const broken = {
    'profile: restricted\nzqsecret: [zqother]\n': /./,
    'waivers: [{rule: plaintext-secret, object: {kind: Secret, namespace: zqspace, name: zqname}, reason: A zqreason., approver: ada, expires: 2999-12-31}]\n':
      /./,
    'profile: restricted # zqcomment\nwaivers: [] # zqcomment\ntenants: {zqteam: {enforcement: zqword}}\n': /./,
  }
  for (const content of Object.keys(broken)) {
    stage.github.push({ repo: FLEET, files: { [FILE]: content }, as: 'ada' })
    await stage.settle()
    await nextSecond()
    const verbs = [
      'waive namespace-confinement please',
      'status',
      'diff',
      'explain namespace-confinement',
      'explain config',
      'check',
    ]
    for (const verb of verbs) {
      const { replies } = await say(`/bailiwick ${verb}`)
      expect(replies.join('\n'), verb).not.toContain('zq')
    }
    expect(told()).not.toContain('zq')
  }
})
