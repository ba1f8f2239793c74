import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASELINE_FILE } from '../../../src/rules/model/baseline.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { propose, said, saidOfTip } from '../story/said.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { reportOf, reportsOf, surveyAgain, writes } from './survey.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'
const OVERLAY = 'production/kustomization.yaml'
const moved = (namespace: string) => `  - patch: |
      - op: replace
        path: /metadata/namespace
        value: ${namespace}
    target:
      kind: Deployment
`
/** Something that stood before the rules did, on production only. */
const LEGACY = fleetFiles(DEV)[OVERLAY]! + moved('kube-system')

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

const baselinePull = () => stage.github.pullRequestsOf(FLEET).find(pull => pull.head.ref === 'bailiwick/baseline')
const golden = (name: string) => join(import.meta.dirname, `../../report/goldens/first-report/${name}.md`)

describe('a clean fleet', () => {
  test('gets one report of what was found, the tenants get none, and no baseline is offered', async () => {
    const { github } = stage
    await expect(reportOf(github).body).toMatchFileSnapshot(golden('clean-fleet'))
    for (const repo of [DEV, 'acme/ops-team']) expect(github.repositoryNamed(repo).issues.size).toBe(0)
    expect(github.pullRequestsOf(FLEET)).toEqual([])
  })

  test('is not told the same twice, however often it is looked at', async () => {
    const { number } = reportOf(stage.github)
    stage.github.forget()
    await surveyAgain(stage)
    expect(writes(stage.github)).toEqual([])
    expect(reportOf(stage.github).number).toBe(number)
  }, 30_000)

  test('the same holds when the App is installed anew', async () => {
    const { github } = stage
    const [installation] = github.world.installations.values()
    github.uninstall(installation!)
    await stage.settle()
    github.forget()
    github.install(github.app, 'acme', 'all', 'ada')
    await stage.settle()
    expect(github.counts()['GET /repos/{owner}/{repo}/issues']).toBeGreaterThan(0)
    expect(reportsOf(github, FLEET)).toHaveLength(1)
    expect(Object.keys(github.counts())).not.toContain('POST /repos/{owner}/{repo}/issues')
  }, 60_000)
})

describe('a fleet with violations from before', () => {
  test('is told of them in the same issue, and is offered a baseline', async () => {
    const { github } = stage
    github.push({ repo: DEV, branch: 'main', files: { [OVERLAY]: LEGACY }, as: 'ada' })
    await stage.settle()
    await surveyAgain(stage)
    await expect(reportOf(github).body).toMatchFileSnapshot(golden('legacy-fleet'))
    const pull = baselinePull()
    expect(pull?.issue.user).toBe(github.app.bot)
    expect(pull?.issue.body).toContain('`namespace-confinement`')
    expect(github.readFile(FLEET, 'bailiwick/baseline', BASELINE_FILE)).toContain('rule: "namespace-confinement"')
    expect(reportOf(github).body).toContain(`Approve and merge #${pull?.issue.number}`)
  }, 60_000)

  test('nobody is blocked by what stood: a pull request is compared with its base', async () => {
    const files = { 'README.md': 'nothing of it\n', 'production/notes.yaml': '# notes\n' }
    expect(await propose(stage, { repo: DEV, branch: 'harmless', files })).toMatchObject({ conclusion: 'success' })
    const other = { [OVERLAY]: LEGACY.replace('kube-system', 'kube-public') }
    expect(await propose(stage, { repo: DEV, branch: 'worse', files: other })).toMatchObject({ conclusion: 'failure' })
  }, 60_000)

  test('the branch itself is red until the baseline is merged, and green with it', async () => {
    const { github } = stage
    expect(saidOfTip(github, DEV).conclusion).toBe('failure')
    const pull = baselinePull()!
    github.review({ repo: FLEET, pull: pull.issue.number, state: 'APPROVED', as: 'ada' })
    await stage.settle()
    expect(said(github, FLEET, 'bailiwick/baseline').conclusion).toBe('success')
    expect(github.merge({ repo: FLEET, pull: pull.issue.number, as: 'ada' })).toMatchObject({ status: 200 })
    await stage.settle()
    expect(saidOfTip(github, FLEET)).toMatchObject({ conclusion: 'success' })
    expect(saidOfTip(github, FLEET).output.title).toContain('existing violation')
    await surveyAgain(stage)
    expect(reportOf(github).body).toContain('- [x] The baseline file lists the existing findings.')
  }, 60_000)
})

describe('what people do stays', () => {
  test('a report that was closed stays closed and is kept true; its title is theirs', async () => {
    const { github } = stage
    const { number } = reportOf(github)
    github.editIssue({ repo: FLEET, issue: number, title: 'Read', as: 'ada' })
    github.closeIssue({ repo: FLEET, issue: number, as: 'ada' })
    github.push({ repo: FLEET, branch: 'main', remove: [BASELINE_FILE], as: 'ada' })
    await stage.settle()
    await surveyAgain(stage)
    expect(reportOf(github)).toMatchObject({ number, state: 'closed', title: 'Read' })
    expect(reportOf(github).body).toContain('or record them with `bailiwick baseline`')
  }, 60_000)

  test('a baseline that was merged once, or closed, is not offered again', async () => {
    const pulls = stage.github.pullRequestsOf(FLEET).filter(pull => pull.head.ref === 'bailiwick/baseline')
    expect(pulls).toHaveLength(1)
    expect(pulls[0]?.issue.state).toBe('closed')
  })

  test("somebody else's issue with our marker is left alone", async () => {
    const { github } = stage
    const body = `${reportOf(github).body.split('\n')[0]}\nnot ours`
    const { number } = github.issue({ repo: FLEET, title: 'forged', body, as: 'otto' })
    await surveyAgain(stage)
    expect(github.repositoryNamed(FLEET).issues.get(number)).toMatchObject({ body, title: 'forged' })
  }, 30_000)
})

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
