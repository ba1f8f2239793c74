import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stage, startStage } from '../story/stage.ts'

const TEAM = 'acme/dev-team'
const OPS = 'acme/ops-team'
const MANY = 40

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

function open(repo: string, branch: string): void {
  const { github } = stage
  github.propose({ repo, branch, files: { [branch]: 'x\n' }, as: 'ada' })
}

test('one repository floods: another one gets its verdict before most of the flood', async () => {
  const { github } = stage
  // a limit lets everything of the installation pile up, whatever the machine's speed
  github.failNext(1, 403, { 'retry-after': '3' }, ({ path }) => path.startsWith(`/repos/${TEAM}/pulls`))
  for (let index = 0; index < MANY; index++) open(TEAM, `flood-${index}`)
  for (const branch of ['one', 'two']) open(OPS, branch)
  github.forget()
  await stage.settle()
  const written = github.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/check-runs'))
  const ofPulls = written.map(({ path }) => (path.includes('ops-team') ? 'ops' : 'flood'))
  expect(ofPulls.filter(repo => repo === 'ops')).toHaveLength(2)
  expect(ofPulls.filter(repo => repo === 'flood').length).toBeGreaterThanOrEqual(MANY)
  expect(ofPulls.lastIndexOf('ops'), `of ${ofPulls.length}`).toBeLessThan(MANY / 2)
}, 120_000)
