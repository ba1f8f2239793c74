import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHECK_NAME, checkNameOf } from '../../../src/verdict/check-names.ts'
import { type Stage, startStage } from '../story/stage.ts'
import { DEV } from './red-together.ts'
import { reportOf, surveyAgain } from './survey.ts'
import { followOnProduction } from './two-bases.ts'

const FLEET = 'acme/fleet'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const [installation] = stage.github.world.installations.values()
  installation!.permissions = { ...installation!.permissions, administration: 'write' }
  await stage.restart()
  await stage.settle()
}, 60_000)
afterAll(() => stage?.close())

async function gate(words = ''): Promise<void> {
  const { github } = stage
  github.comment({ repo: FLEET, issue: reportOf(github).number, body: `/bailiwick gate${words}`, as: 'ada' })
  await stage.settle()
}

/** Name of each ruleset of dev-team, its branches, and the checks that it requires. */
function rulesets(): unknown[] {
  const { github } = stage
  const own = [...github.world.rulesets.values()].filter(({ source }) => source === github.repositoryNamed(DEV))
  return own
    .map(({ name, conditions, rules }) => [
      name,
      conditions.ref_name?.include,
      [...JSON.stringify(rules).matchAll(/"context":"([^"]+)"/g)].map(([, context]) => context),
    ])
    .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
}

test('the default branch requires the plain name, another one its own, whatever was required before', async () => {
  await gate()
  expect(rulesets()).toEqual([['Bailiwick', ['refs/heads/main'], [CHECK_NAME]]])
  const { github } = stage
  const own = github.repositoryNamed(FLEET)
  for (const one of [...github.world.rulesets.values()]) if (one.source === own) github.removeRuleset(one)
  await followOnProduction(stage, 'stable')
  const [ruleset] = [...github.world.rulesets.values()].filter(({ name }) => name === 'Bailiwick')
  Object.assign(ruleset!.conditions.ref_name!, { include: ['refs/heads/main', 'refs/heads/stable'] })
  await surveyAgain(stage)
  expect(reportOf(github).body).toContain(checkNameOf('stable'))
  await gate()
  expect(rulesets()).toEqual([
    ['Bailiwick', ['refs/heads/main'], [CHECK_NAME]],
    ['Bailiwick (stable)', ['refs/heads/stable'], [checkNameOf('stable')]],
  ])
}, 120_000)

test('off takes back every ruleset that it set, and nothing else; gate sets them again', async () => {
  const { github } = stage
  const lastReply = () => github.commentsOf(FLEET, reportOf(github).number).at(-1)?.body ?? ''
  const before = rulesets()
  const foreign = [...github.world.rulesets.values()].find(({ name }) => name === 'Bailiwick')!
  const id = Math.max(...github.world.rulesets.keys()) + 1
  github.world.rulesets.set(id, { ...foreign, id, name: 'House rules' })
  await gate(' no')
  expect(rulesets()).toHaveLength(before.length + 1)
  await gate(' off')
  expect(rulesets()).toEqual([['House rules', ['refs/heads/main'], [CHECK_NAME]]])
  expect(lastReply()).toContain('Other rules that require the check stay')
  github.world.rulesets.delete(id)
  await gate()
  expect(rulesets()).toEqual(before)
}, 120_000)

test('GitHub had nothing to complain about', () => {
  const { github } = stage
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
})
