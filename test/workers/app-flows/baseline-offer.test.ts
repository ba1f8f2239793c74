import { afterAll, beforeAll, expect, test } from 'vitest'
import { BASELINE_FILE } from '../../../src/rules/model/baseline.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { reportOf, surveyAgain, writes } from './survey.ts'

const FLEET = 'acme/fleet'
const DEV = 'acme/dev-team'
const BRANCH = 'bailiwick/baseline'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

/** Puts a violation onto the branch that one cluster follows, past every gate. */
async function stray(cluster: 'staging' | 'production'): Promise<void> {
  const path = `${cluster}/kustomization.yaml`
  const patch = `${cluster === 'staging' ? 'patches:\n' : ''}  - patch: |
      - op: replace
        path: /metadata/namespace
        value: kube-system
    target:
      kind: Deployment
`
  stage.github.push({ repo: DEV, branch: 'main', files: { [path]: fleetFiles(DEV)[path]! + patch }, as: 'ada' })
  await stage.settle()
  await surveyAgain(stage)
}

const offers = () => stage.github.pullRequestsOf(FLEET).filter(pull => pull.head.ref === BRANCH)
const listed = () => stage.github.readFile(FLEET, BRANCH, BASELINE_FILE).match(/- fingerprint:/g)?.length

test('the offer follows what stands while it is open, and is written only when that changed', async () => {
  await stray('production')
  expect([offers().length, listed()]).toEqual([1, 1])
  stage.github.forget()
  await surveyAgain(stage)
  expect(writes(stage.github)).toEqual([])
  await stray('staging')
  expect([offers().length, listed()]).toEqual([1, 2])
  expect(offers()[0]?.issue.state).toBe('open')
}, 90_000)

test('somebody who pushes to its branch is not overwritten', async () => {
  const { github } = stage
  const { sha } = github.push({ repo: FLEET, branch: BRANCH, files: { 'NOTES.md': 'wait\n' }, as: 'ada' })
  await stage.settle()
  github.push({
    repo: DEV,
    branch: 'main',
    files: { 'staging/kustomization.yaml': fleetFiles(DEV)['staging/kustomization.yaml']! },
    as: 'ada',
  })
  await stage.settle()
  await surveyAgain(stage)
  expect(github.commitOf(FLEET, BRANCH)).toBe(sha)
}, 60_000)

test('closed by people it is not opened again, and the report says what is left to do', async () => {
  const { github } = stage
  github.closePullRequest({ repo: FLEET, pull: offers()[0]!.issue.number, as: 'ada' })
  await stage.settle()
  await surveyAgain(stage)
  expect(offers().map(pull => pull.issue.state)).toEqual(['closed'])
  expect(reportOf(github).body).toContain('- [ ] Fix existing findings (1 violation), or record them with')
}, 60_000)

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
