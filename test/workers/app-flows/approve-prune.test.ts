import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPruneRecord } from '../../../src/surface/command/record.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { command, giveRoles, lastRun } from './commands.ts'

const REPO = 'acme/fleet'
const A = 'a'.repeat(32)
const B = 'b'.repeat(32)

let stage: Stage
let issue: number
beforeAll(async () => {
  stage = await startStage()
  giveRoles(stage.github, REPO, { max: 'maintain', will: 'write', lena: 'read' })
  await stage.settle()
  issue = stage.github.issue({ repo: REPO, title: 'Prune', as: 'ada' }).number
  await stage.settle()
})
afterAll(() => stage?.close())

const say = (as: string, body: string) => command(stage, { repo: REPO, issue, as, body })
const record = () =>
  readPruneRecord(lastRun(stage.github, REPO, 'main', 'bailiwick / approve-prune')?.output.text ?? '')

test('nobody approves who does not decide for the fleet', async () => {
  const why = expect.stringContaining('you are not a fleet admin')
  for (const as of ['mallory', 'lena', 'will', 'otto']) {
    const { reactions, replies } = await say(as, `/bailiwick approve-prune ${A}`)
    expect([as, reactions]).toEqual([as, ['-1']])
    expect([as, replies]).toEqual([as, as === 'mallory' || as === 'lena' ? [] : [why]])
  }
  expect(record()).toBeUndefined()
})

test.each(['', ' all', ` ${A.slice(1)}`, ` ${A}x`, ` ${A} please`, ` ${A.toUpperCase()}`])(
  'what is no digest is refused: %j',
  async words => {
    const { reactions, replies } = await say('ada', `/bailiwick approve-prune${words}`)
    expect(reactions).toContain('confused')
    expect(replies[0]).toContain('digests of 32 hexadecimal digits')
    expect(record()).toBeUndefined()
  },
)

test("a fleet admin's approval stands on the commit that is applied, and a second one beside it", async () => {
  expect((await say('max', `/bailiwick approve-prune ${A}`)).reactions).toContain('rocket')
  expect(record()).toMatchObject({ by: 'max', digests: [A] })
  expect((await say('ada', `/bailiwick approve-prune ${B} ${A}`)).reactions).toContain('rocket')
  expect(record()).toMatchObject({ by: 'ada', digests: [B, A] })
})

test('the next commit has none of them', async () => {
  stage.github.push({ repo: REPO, message: 'again', as: 'ada' })
  await stage.settle()
  expect(record()).toBeUndefined()
})
