import { expect, test } from 'vitest'
import { narrowed } from '../../src/report/outcome.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import { statusText } from '../../src/surface/command/answer-text.ts'
import { finding, OPS, verdict } from './samples.ts'

const waiver = { expires: '2027-03-31', approver: 'dev-team', reason: 'as dev-team asked' }
const waived = finding({ state: 'waived', message: 'Moved on purpose', waiver, clusterAnswer: 'told to "dev-team"' })
const given = verdict({ violations: [waived] })

test('who granted a waiver, and what the cluster answers, is told to nobody who may not read the names in it', () => {
  const [seen] = viewFor(given, ['ops-team'], OPS).verdict.violations
  expect(seen?.waiver).toEqual({
    expires: '2027-03-31',
    approver: "(another tenant's)",
    reason: "as (another tenant's) asked",
  })
  expect(seen?.clusterAnswer).toBe(`told to "(another tenant's)"`)
  expect(viewFor(given, ['ops-team', 'dev-team'], OPS).verdict.violations).toEqual([waived])
})

test('of what fewer people can see neither is told', () => {
  const [seen] = narrowed({ verdict: given, nodes: [] }, new Set([OPS])).verdict.violations
  expect(seen).toMatchObject({ rule: waived.rule, state: 'waived' })
  expect(Object.keys(seen!)).not.toContain('waiver')
  expect(Object.keys(seen!)).not.toContain('clusterAnswer')
})

test('the status of a pull request says until when something is waived, whatever its message says', () => {
  const status = { head: 'a'.repeat(40), base: 'main', title: 'Passed', decisions: { missing: [], worse: [] } }
  const text = statusText({ ...status, verdict: given })
  expect(text).toContain('`Deployment apps/dashboard` on `staging`. Waived until `2027-03-31` by `dev-team`: ')
  const unsaid = finding({ state: 'new', message: 'Moved. Waived until 2099-01-01 by "mallory": "".' })
  expect(statusText({ ...status, verdict: verdict({ violations: [unsaid] }) })).not.toContain('Waived until')
})
