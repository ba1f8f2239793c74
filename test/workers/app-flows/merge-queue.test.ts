import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { said } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { deploymentFile } from '../story/tenant-changes.ts'
import { follower, source } from './private-sources.ts'
import { DEV, IN_BASE, IN_STAGING, openDev, withResource } from './red-together.ts'
import { followOnProduction } from './two-bases.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const { github } = stage
  github.setProtection(DEV, { checks: [{ context: CHECK_NAME, appId: github.app.id }], mergeQueue: true })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** What GitHub asked for and got: each group of the queue with its run, in the order of the questions. */
function groups() {
  const asked = stage.github.deliveries.filter(
    ({ event, action }) => event === 'merge_group' && action === 'checks_requested',
  )
  return asked.map(({ payload }) => {
    const { head_ref: ref, head_sha: sha } = payload.merge_group as { head_ref: string; head_sha: string }
    return { pull: Number(/\/pr-(\d+)-/.exec(ref)?.[1]), sha, run: firstRun(sha) }
  })
}

/** What the queue was told; once it is merged the commit is one of the branch, and says so too. */
const firstRun = (sha: string) => stage.github.checkRunsOf(DEV, sha).find(run => run.name === CHECK_NAME)!

const isMerged = (pull: number) =>
  stage.github.pullRequestsOf(DEV).find(({ issue }) => issue.number === pull)?.merged !== undefined

test('two pull requests that pass alone are red together in the queue: the first is merged, the second is not', async () => {
  const { github } = stage
  const [one, other] = [openDev(github, 'one', IN_BASE), openDev(github, 'other', IN_STAGING)]
  await stage.settle()
  for (const branch of ['one', 'other']) expect(said(github, DEV, branch)).toMatchObject({ conclusion: 'success' })
  for (const pull of [one, other]) github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  const [first, second] = groups()
  expect(first).toMatchObject({ pull: one, run: { status: 'completed', conclusion: 'success' } })
  expect(second).toMatchObject({ pull: other, run: { status: 'completed', conclusion: 'failure' } })
  expect(second!.run.output.title).toMatch(/^Could not be evaluated: /)
  expect(second!.run.output.summary).toContain('as the merge queue would merge it')
  expect([isMerged(one), isMerged(other)]).toEqual([true, false])
}, 60_000)

test('a group that touches nothing of the fleet is answered, or the queue would wait for ever', async () => {
  const { github } = stage
  const pull = openDev(github, 'readme', { 'README.md': '# Dev team\n' })
  await stage.settle()
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  expect(groups().at(-1)).toMatchObject({ pull, run: { status: 'completed', conclusion: 'success' } })
  expect(isMerged(pull)).toBe(true)
}, 60_000)

test('a hold that comes while it waits holds the group', async () => {
  const { github } = stage
  const pull = openDev(github, 'held', { 'README.md': '# Held\n' })
  await stage.settle()
  github.label({ repo: DEV, issue: pull, label: 'bailiwick/hold', as: 'dora' })
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  const group = groups().at(-1)!
  expect(group).toMatchObject({ pull, run: { conclusion: 'failure' } })
  expect(group.run.output.title).toBe('On hold by dora')
  expect(isMerged(pull)).toBe(false)
}, 60_000)

test('an override of the head counts in a group that holds nothing else', async () => {
  const { github } = stage
  const pull = openDev(github, 'urgent', {
    'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'stray.yaml'),
    'staging/stray.yaml': deploymentFile('stray', 'kube-system'),
  })
  await stage.settle()
  expect(said(github, DEV, 'urgent')).toMatchObject({ conclusion: 'failure' })
  const head = github.commitOf(DEV, 'urgent')
  github.comment({
    repo: DEV,
    issue: pull,
    as: 'ada',
    body: `/bailiwick override ${head.slice(0, 12)} the gate is wrong, incident 42`,
  })
  await stage.settle()
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  const group = groups().at(-1)!
  expect(group).toMatchObject({ pull, run: { conclusion: 'success' } })
  expect(group.run.output.title).toContain('Overridden by ada')
  expect(isMerged(pull)).toBe(true)
}, 60_000)

test('an override of the head counts where only an approval is missing', async () => {
  const { github } = stage
  const pull = openDev(github, 'own-source', {
    'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'own.yaml'),
    // a repository that the App cannot read
    'staging/own.yaml': source('own', 'https://github.com/strangers/own') + follower('own'),
  })
  await stage.settle()
  const alone = said(github, DEV, 'own-source')
  expect([alone?.conclusion, alone?.output.title]).toEqual(['failure', expect.stringMatching(/^Approval required: /)])
  const body = `/bailiwick override ${github.commitOf(DEV, 'own-source').slice(0, 12)} known to us, incident 43`
  github.comment({ repo: DEV, issue: pull, as: 'ada', body })
  await stage.settle()
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  const group = groups().at(-1)!
  expect(group).toMatchObject({ pull, run: { conclusion: 'success' } })
  expect(group.run.output.title).toContain('Overridden by ada')
}, 60_000)

test('what the queue passed lets the tip of its branch into no other one whose rules come to accept the name', async () => {
  const { github } = stage
  await followOnProduction(stage, 'stable')
  const pull = openDev(github, 'promoted', {
    'production/kustomization.yaml': withResource('production/kustomization.yaml', 'stray.yaml'),
    'production/stray.yaml': deploymentFile('stray', 'kube-system'),
  })
  await stage.settle()
  github.enqueue(DEV, pull, { as: 'dora' })
  await stage.settle()
  expect(isMerged(pull)).toBe(true)
  const onTip = () => github.checkRunsOf(DEV, 'main').filter(({ name }) => name === CHECK_NAME)
  expect(onTip()).toMatchObject([{ conclusion: 'success' }])
  github.setProtection(DEV, { branch: 'stable', checks: [{ context: CHECK_NAME, appId: github.app.id }] })
  await stage.settle()
  expect(onTip()).toEqual([])
  const promotion = github.openPullRequest({ repo: DEV, head: 'main', base: 'stable', as: 'dora' }).issue.number
  expect(github.merge({ repo: DEV, pull: promotion, as: 'dora' }).status).toBe(405)
  await stage.settle()
  expect(onTip()).toMatchObject([{ conclusion: 'failure' }])
}, 60_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
