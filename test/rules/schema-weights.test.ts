import { describe, expect, test } from 'vitest'
import { acceptedBy, BASELINE_FILE } from '../../src/rules/model/baseline.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../fleet/mini-fleet.ts'

const VERSION = 'kubernetes: [{version: "1.36"}]\n'
const service = (ports: string, name = 'web') =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: apps}\nspec:\n  selector: {app: web}\n  ports: ${ports}\n`
const BAD = service('[{port: "80"}]')

const given = (file = '', object = BAD, more: Readonly<Record<string, string>> = {}) =>
  miniFleet({ fleet: { '.github/bailiwick.yaml': VERSION + file }, dev: { ...withResource(object), ...more } })
const ours = (found: readonly Finding[]) => found.filter(({ rule }) => rule === 'schema-mismatch')
const verdictOf = (...args: Parameters<typeof given>) => evaluationOf(given(...args)).verdict

test('report mode, a severity, a warning and a rule that is switched off', () => {
  expect(verdictOf()).toMatchObject({ result: 'fail' })
  const reported = verdictOf('enforcement: report\n')
  expect(reported.result).toBe('pass')
  expect(ours(reported.warnings)).toMatchObject([{ reported: true }])
  expect(ours(verdictOf('severities: {schema-mismatch: low}\n').violations)).toMatchObject([{ severity: 'low' }])
  const warned = verdictOf('severities: {schema-mismatch: warning}\n')
  expect(warned.result).toBe('pass')
  expect(ours(warned.warnings)).toHaveLength(1)
  const off = verdictOf('severities: {schema-mismatch: off}\n')
  expect(off.result).toBe('pass')
  expect(ours([...off.violations, ...off.warnings])).toEqual([])
})

describe('a waiver', () => {
  const finding = () => ours(verdictOf().violations)[0]!
  const waiver = (severity = 'medium') => `waivers:
  - rule: schema-mismatch
    object: {kind: Service, namespace: apps, name: web}
    violations: [{fingerprint: ${finding().fingerprint}, severity: ${severity}}]
    reason: moves in May
    approver: "@acme/platform"
    expires: 2026-06-30
`
  const states = (file: string, today: string, object = BAD) =>
    ours(evaluationOf(given(file, object), { today }).verdict.violations).map(({ state }) => state)

  test('accepts one place of one object, until its day', () => {
    expect(finding().severity).toBe('medium')
    expect(states(waiver(), '2026-06-30')).toEqual(['waived'])
    expect(states(waiver(), '2026-07-01')).toEqual(['new'])
    expect(states(waiver(), '2026-06-30', service('[{port: "80"}, {name: b, port: "81"}]')).sort()).toEqual([
      'new',
      'new',
      'waived',
    ])
    expect(states(waiver(), '2026-06-30', service('[{port: "80"}]', 'other'))).toEqual(['new'])
  })

  test('is none in a repository of the tenant', () => {
    const files = { '.github/bailiwick.yaml': waiver() }
    const { violations, result } = evaluationOf(given('', BAD, files), { today: '2026-06-30' }).verdict
    expect(ours(violations).map(({ state }) => state)).toEqual(['new'])
    expect(result).not.toBe('pass')
  })

  test('nor does the tenant choose a severity or the version of the cluster', () => {
    const files = { '.github/bailiwick.yaml': 'enforcement: report\nseverities: {schema-mismatch: off}\n' }
    const { result, violations } = verdictOf('', BAD, files)
    expect(result).not.toBe('pass')
    expect(ours(violations)).toMatchObject([{ severity: 'medium', state: 'new' }])
  })

  test('is of no use in the change that brings it', () => {
    const { verdict } = evaluationOf(given(waiver()), { base: given('', service('[{port: 80}]')), today: '2026-06-30' })
    expect(ours(verdict.violations).map(({ state }) => state)).toEqual(['new'])
  })
})

test('the baseline accepts what stands, not another field or kind of problem', () => {
  const found = ours(verdictOf().violations)
  const text = `violations:\n${found.map(({ fingerprint }) => `  - {fingerprint: ${fingerprint}, severity: medium}\n`).join('')}`
  const baseline = acceptedBy(treeOf({ [BASELINE_FILE]: text }), FLEET_URL)
  const resultOf = (object: string) => evaluationOf(given('', object), { baseline }).verdict.result
  expect(resultOf(BAD)).toBe('pass')
  expect(resultOf(service('[{port: 80000}]'))).toBe('fail')
  expect(resultOf(service('[{port: "80"}, {name: b, port: "81"}]'))).toBe('fail')
})

test('what stands before a change is not new, another problem at the same place is', () => {
  const stateOf = (object: string) => {
    const { verdict } = evaluationOf(given('', object), { base: given() })
    return ours(verdict.violations).flatMap(({ state }) => (state === 'fixed' ? [] : [state]))
  }
  expect(stateOf(BAD)).toEqual(['standing'])
  expect(stateOf(BAD.replace('namespace: apps', 'namespace: apps, labels: {a: b}'))).toEqual(['standing'])
  expect(stateOf(service('[{port: 80000}]'))).toEqual(['new'])
})
