import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { command, lastRun, nextSecond } from './commands.ts'
import { DEV, openDev, withResource } from './red-together.ts'

const FLEET = 'acme/fleet'
const ESCAPE = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
  'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
}

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** A branch of `main` that no cluster follows. */
function branchOff(repo: string, branch: string): string {
  const { github } = stage
  github.pushRef({ repo, branch, sha: github.commitOf(repo, 'main'), as: 'ada' })
  return branch
}

/** A pull request of the fleet that changes CODEOWNERS; its number. */
async function openGuarded(branch: string, base: string, as = 'otto'): Promise<number> {
  const { github } = stage
  const files = { CODEOWNERS: `* @${branch}\n` }
  const number = github.propose({ repo: FLEET, branch, base, from: 'main', files, as })
  await stage.settle()
  return number
}

const baseOf = (repo: string, number: number) =>
  stage.github.pullRequestsOf(repo).find(({ issue }) => issue.number === number)?.base.ref
const isMerged = (repo: string, number: number) =>
  stage.github.pullRequestsOf(repo).find(({ issue }) => issue.number === number)?.merged !== undefined

test('whom GitHub leads onto a followed branch without an event, because its base is gone, is judged for it', async () => {
  const { github } = stage
  const parent = openDev(github, 'parent', { 'PARENT.md': 'harmless\n' })
  const child = github.propose({ repo: DEV, branch: 'child', base: 'parent', files: ESCAPE, as: 'dora' })
  await stage.settle()
  expect(github.merge({ repo: DEV, pull: parent, as: 'dora' })).toMatchObject({ status: 200 })
  await stage.settle()
  github.pushRef({ repo: DEV, branch: 'parent', sha: null, as: 'dora' })
  expect(baseOf(DEV, child)).toBe('main')
  await stage.settle()
  expect(said(github, DEV, 'child')).toMatchObject({ conclusion: 'failure' })
  expect(github.merge({ repo: DEV, pull: child, as: 'dora' })).toMatchObject({ status: 405 })
}, 60_000)

test('what a fleet admin approved for another branch is not approved for this one', async () => {
  const { github } = stage
  const pull = await openGuarded('elsewhere', branchOff(FLEET, 'trial'))
  github.review({ repo: FLEET, pull, as: 'ada' })
  await stage.settle()
  await nextSecond()
  github.editPullRequest({ repo: FLEET, pull, base: 'main', as: 'otto' })
  await stage.settle()
  expect(lastRun(github, FLEET, 'elsewhere')).toMatchObject({ conclusion: 'failure' })
  await nextSecond()
  github.review({ repo: FLEET, pull, as: 'ada' })
  await stage.settle()
  expect(lastRun(github, FLEET, 'elsewhere')).toMatchObject({ conclusion: 'success' })
}, 60_000)

test("a fleet admin's own pull request that somebody else leads onto the followed branch waits", async () => {
  const { github } = stage
  const pull = await openGuarded('experiment', branchOff(FLEET, 'trial2'), 'ada')
  github.editPullRequest({ repo: FLEET, pull, base: 'main', as: 'otto' })
  await stage.settle()
  expect(lastRun(github, FLEET, 'experiment')).toMatchObject({ conclusion: 'failure' })
  github.editPullRequest({ repo: FLEET, pull, base: 'trial2', as: 'otto' })
  github.editPullRequest({ repo: FLEET, pull, base: 'main', as: 'ada' })
  await stage.settle()
  expect(lastRun(github, FLEET, 'experiment')).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('an override is for the branch that the admin saw, not for the one it is led to right after', async () => {
  const { github } = stage
  branchOff(DEV, 'drafts')
  const issue = github.propose({ repo: DEV, branch: 'swap', base: 'drafts', from: 'main', files: ESCAPE, as: 'dora' })
  await stage.settle()
  const body = `/bailiwick override ${github.commitOf(DEV, 'swap').slice(0, 12)} fine on drafts, incident 7`
  const asked = command(stage, { repo: DEV, issue, as: 'ada', body })
  github.editPullRequest({ repo: DEV, pull: issue, base: 'main', as: 'dora' })
  expect((await asked).replies.join()).toContain('retargeted')
  expect(said(github, DEV, 'swap')).toMatchObject({ conclusion: 'failure' })
  await nextSecond()
  const again = await command(stage, { repo: DEV, issue, as: 'ada', body })
  expect(again.reactions).toContain('rocket')
  expect(said(github, DEV, 'swap')).toMatchObject({ conclusion: 'success' })
}, 60_000)

test('closing a pull request takes back what was said for it: who opens it again gets no override', async () => {
  const { github } = stage
  const issue = openDev(github, 'regret', ESCAPE)
  await stage.settle()
  await nextSecond()
  const body = `/bailiwick override ${github.commitOf(DEV, 'regret').slice(0, 12)} the gate is wrong`
  await command(stage, { repo: DEV, issue, as: 'ada', body })
  expect(said(github, DEV, 'regret')).toMatchObject({ conclusion: 'success' })
  await nextSecond()
  github.closePullRequest({ repo: DEV, pull: issue, as: 'ada' })
  await stage.settle()
  github.reopenPullRequest({ repo: DEV, pull: issue, as: 'dora' })
  await stage.settle()
  expect(said(github, DEV, 'regret')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test("a fleet admin's pull request that they closed is not opened again by somebody else", async () => {
  const { github } = stage
  const pull = await openGuarded('dropped', 'main', 'ada')
  expect(lastRun(github, FLEET, 'dropped')).toMatchObject({ conclusion: 'success' })
  github.closePullRequest({ repo: FLEET, pull, as: 'ada' })
  await stage.settle()
  github.reopenPullRequest({ repo: FLEET, pull, as: 'otto' })
  await stage.settle()
  expect(lastRun(github, FLEET, 'dropped')).toMatchObject({ conclusion: 'failure' })
}, 60_000)

test('a merge queue asks again for the agreement that a guarded file needs', async () => {
  const { github } = stage
  github.setProtection(FLEET, { checks: [{ context: CHECK_NAME, appId: github.app.id }], mergeQueue: true })
  const pull = await openGuarded('queued', 'main')
  const review = github.review({ repo: FLEET, pull, as: 'ada' }).id
  await stage.settle()
  expect(lastRun(github, FLEET, 'queued')).toMatchObject({ conclusion: 'success' })
  github.enqueue(FLEET, pull, { as: 'otto' })
  github.dismissReview({ repo: FLEET, pull, review, as: 'ada' })
  await stage.settle()
  expect(isMerged(FLEET, pull)).toBe(false)
  github.review({ repo: FLEET, pull, as: 'ada' })
  await stage.settle()
  github.enqueue(FLEET, pull, { as: 'otto' })
  await stage.settle()
  expect(isMerged(FLEET, pull)).toBe(true)
}, 60_000)

test('a green verdict of a branch that nobody follows gets no guarded file through the queue of another', async () => {
  const { github } = stage
  const pull = await openGuarded('sneak', branchOff(FLEET, 'trial3'))
  github.editPullRequest({ repo: FLEET, pull, base: 'main', as: 'otto' })
  try {
    github.enqueue(FLEET, pull, { as: 'otto' })
  } catch (error) {
    // the verdict may not let it in at all
    expect(String(error)).toContain(CHECK_NAME)
  }
  await stage.settle()
  expect(isMerged(FLEET, pull)).toBe(false)
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
