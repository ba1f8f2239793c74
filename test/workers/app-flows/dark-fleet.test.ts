import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_EARLIER } from '../../../src/fleet/graph/fleet-session.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import type { CheckRun } from '../../../tools/github/world.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { lastRun, nextSecond, proposed, proposeNothing, proposeViolation } from './commands.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'
/** No node reads these: rules require the check of the first, the fleet's file lists the second, nobody asks for the third. */
const [WEBSITE, HANDBOOK, BLOG] = ['acme/website', 'acme/handbook', 'acme/blog']
const ROOTS = ['clusters/staging/kustomization.yaml', 'clusters/production/kustomization.yaml']
const INVALID = 'resources: ['
const MISSING = 'resources: [missing.yaml]'
const LISTED = `gatedBranches:\n  - url: https://github.com/${HANDBOOK}\n    branch: main\n`

let stage: Stage
beforeAll(async () => {
  stage = await startStage({
    prepare: github => {
      for (const repo of [WEBSITE, HANDBOOK, BLOG]) {
        const name = repo.slice('acme/'.length)
        github.addRepository({ owner: 'acme', name, files: { 'a.md': 'a\n' }, roles: { ada: 'admin' } })
      }
      const checks = [{ context: CHECK_NAME, appId: github.app.id }]
      github.setProtection(WEBSITE, { checks, mergeQueue: true })
      github.push({ repo: FLEET, files: { '.github/bailiwick.yaml': LISTED }, as: 'ada' })
    },
  })
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** Commits to the fleet after each of which no root builds; GitHub tells of the last one only, or of none. */
function breakFleet(times: number, text: string, isTold = true): void {
  const { github } = stage
  const url = github.app.webhookUrl
  for (let left = times; left > 0; left--) {
    github.app.webhookUrl = left === 1 && isTold ? url : undefined
    const files = Object.fromEntries(ROOTS.map(path => [path, `${text} # ${left} more\n`]))
    github.push({ repo: FLEET, files, as: 'ada' })
  }
  github.app.webhookUrl = url
}

const propose = (repo: string, branch = 'notes') =>
  proposed(stage, { repo, branch, files: { [branch]: 'b\n' }, as: 'ada' })

const runOf = (repo: string, branch: string): CheckRun | undefined => lastRun(stage.github, repo, branch)

const conclusions = () => {
  const pulls = { bad: DEV, fine: DEV, [WEBSITE]: WEBSITE, [HANDBOOK]: HANDBOOK, [BLOG]: BLOG }
  const each = Object.entries(pulls).map(([name, repo]) => [name, runOf(repo, repo === DEV ? name : 'notes')] as const)
  return Object.fromEntries(each.map(([name, run]) => [name, run?.conclusion]))
}

test('roots that are no valid YAML: a violation stays one by the last commit that builds', async () => {
  breakFleet(MAX_EARLIER - 1, INVALID)
  await stage.settle()
  await proposeViolation(stage, 'bad')
  const run = runOf(DEV, 'bad')
  expect(run).toMatchObject({ conclusion: 'failure', annotations: [{ path: 'staging/report.yaml', start_line: 5 }] })
  expect(run?.output.summary).toContain('**`Deployment kube-system/bad`** on `staging`')
}, 120_000)

test('roots that name a missing file: what breaks no rule passes, and the violation does not', async () => {
  breakFleet(1, MISSING)
  await proposeNothing(stage, 'fine')
  for (const repo of [WEBSITE, HANDBOOK, BLOG]) await propose(repo)
  expect(conclusions()).toEqual({
    ...{ bad: 'failure', fine: 'success' },
    ...{ [WEBSITE]: 'success', [HANDBOOK]: 'success', [BLOG]: undefined },
  })
  expect(runOf(DEV, 'bad')?.output.title).toBe('1 violation in dev-team (staging)')
  expect(runOf(DEV, 'fine')?.output.title).toMatch(/^Passed/)
}, 120_000)

test('no commit that builds: nothing stays green, and who asks for no check gets none', async () => {
  await nextSecond()
  breakFleet(1, MISSING)
  await stage.settle()
  expect(conclusions()).toEqual({
    ...{ bad: 'failure', fine: 'failure' },
    ...{ [WEBSITE]: 'failure', [HANDBOOK]: 'failure', [BLOG]: undefined },
  })
  const runs = [runOf(DEV, 'fine'), runOf(HANDBOOK, 'notes'), runOf(WEBSITE, 'notes')]
  for (const run of runs) expect(run?.output.title).toMatch(/^Could not be evaluated: /)
}, 120_000)

test('what is opened then is no success either', async () => {
  await proposeNothing(stage, 'later')
  for (const repo of [WEBSITE, HANDBOOK, BLOG]) await propose(repo, 'later')
  const said = [DEV, WEBSITE, HANDBOOK, BLOG].map(repo => runOf(repo, 'later')?.conclusion)
  expect(said).toEqual(['failure', 'failure', 'failure', undefined])
  const { title, summary } = runOf(WEBSITE, 'later')!.output
  expect(title).toBe('Could not be evaluated: A fleet was only partly rendered')
  expect(summary).toContain('it is unknown whether it deploys this repository')
  expect(summary).toContain('`source-unreadable`')
  expect(summary, 'which fleet it is stays with those who may read it').not.toContain(FLEET)
}, 120_000)

test('the fleet is repaired: all of them are green again but for the violation', async () => {
  stage.github.push({ repo: FLEET, files: {}, remove: ROOTS, as: 'ada' })
  await stage.settle()
  expect(conclusions()).toEqual({
    ...{ bad: 'failure', fine: 'success' },
    ...{ [WEBSITE]: 'success', [HANDBOOK]: 'success', [BLOG]: undefined },
  })
  expect(runOf(DEV, 'bad')?.output.title).toBe('1 violation in dev-team (staging)')
}, 120_000)

test('a group of a merge queue gets no success while nothing builds, whatever its pull request got', async () => {
  const { github } = stage
  const pull = await propose(WEBSITE, 'queued')
  expect(runOf(WEBSITE, 'queued')).toMatchObject({ conclusion: 'success' })
  breakFleet(MAX_EARLIER + 1, INVALID, false)
  github.enqueue(WEBSITE, pull, { as: 'ada' })
  await stage.settle()
  const group = github.deliveries.findLast(
    ({ event, action }) => event === 'merge_group' && action === 'checks_requested',
  )
  const { head_sha: sha } = group!.payload.merge_group as { head_sha: string }
  expect(runOf(WEBSITE, sha)).toMatchObject({ status: 'completed', conclusion: 'failure' })
  expect(github.pullRequestsOf(WEBSITE).find(({ issue }) => issue.number === pull)?.merged).toBeUndefined()
}, 120_000)

test('every request was one that GitHub describes', () => {
  expect(stage.github.violations).toEqual([])
  expect(stage.github.unknown).toEqual([])
  expect(stage.github.responseViolations).toEqual([])
})
