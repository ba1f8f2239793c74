import { describe, expect, test } from 'vitest'
import type { Step } from '../../src/base/origin.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import { fixText } from '../../src/report/text/findings.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { groupFindings } from '../../src/verdict/summary.ts'
import { FLEET, finding, OPS, verdict } from './samples.ts'

const text = (over: Partial<Finding>, here = OPS) => fixText(groupFindings([finding({ via: [], ...over })])[0]!, here)
const step = (name: Step['step']): Step => ({ step: name, file: 'x.yaml', line: 5 })

describe('a fix is the edit of the line that wrote the value', () => {
  test('one value, several, and more than are listed', () => {
    expect(text({ allowed: ['ops'] })).toBe('Set `namespace` to `ops` at steal.yaml:5.')
    expect(text({ allowed: ['ops', 'web'] })).toBe('Set `namespace` to one of `ops`, `web` at steal.yaml:5.')
    expect(text({ allowed: ['a', 'b', 'c', 'd', 'e', 'f'] })).toContain('`e` and 1 more at')
  })

  test('in another repository, which is named', () => {
    expect(text({ allowed: ['ops'] }, FLEET)).toBe('Set `namespace` to `ops` at github.com/acme/ops-team steal.yaml:5.')
  })

  test('by the name that it has there: a target namespace', () => {
    expect(text({ allowed: ['ops'], via: [step('flux-target-namespace'), step('generator')] })).toBe(
      'Set `targetNamespace` to `ops` at steal.yaml:5.',
    )
  })

  test('what is certain: a value that is added or turned', () => {
    expect(text({ edit: { add: 'dev-team' }, field: '/spec/serviceAccountName' })).toBe(
      'Add `serviceAccountName: dev-team` at steal.yaml:5.',
    )
    expect(text({ edit: { add: 'ops' }, field: '/metadata/namespace', via: [step('generator')] })).toBe(
      'Add `namespace: ops` to the generator at steal.yaml:5.',
    )
    expect(text({ edit: { set: 'false' }, field: '/spec/containers/0/securityContext/privileged' })).toBe(
      'Set `privileged` to `false` at steal.yaml:5.',
    )
    expect(text({ field: '/metadata/labels/example.com~1tenant', allowed: ['x'] })).toContain('`example.com/tenant`')
  })
})

describe('the words of the rule stay', () => {
  test.each(['generator', 'transformer', 'reference', 'replacement', 'substitution', 'local-config'] as const)(
    'where a %s made the value of something else',
    name => {
      expect(text({ allowed: ['ops'], via: [step(name)] })).toBe(finding().fix)
    },
  )

  test('where nothing says what else it may be, or where it stands', () => {
    expect(text({})).toBe(finding().fix)
    expect(text({ edit: { remove: true } })).toBe(finding().fix)
    expect(text({ allowed: ['ops'], origin: { ...finding().origin, file: '' } })).toBe(finding().fix)
    expect(text({ allowed: ['ops'], field: '/subjects/0' })).toBe(finding().fix)
  })

  test('where a value names somebody whom the reader may not know', () => {
    const one = finding({ tenant: 'ops-team', allowed: ['dev-team'] })
    const view = viewFor(verdict({ result: 'fail', violations: [one] }), ['ops-team'], OPS)
    expect(view.verdict.violations[0]).not.toHaveProperty('allowed')
    const own = viewFor(verdict({ result: 'fail', violations: [{ ...one, allowed: ['ops'] }] }), ['ops-team'], OPS)
    expect(own.verdict.violations[0]).toMatchObject({ allowed: ['ops'] })
  })
})

test('of several objects the one is taken whose line is known', () => {
  const made = finding({ object: { ...finding().object, name: 'a' }, via: [step('generator')], allowed: ['ops'] })
  const plain = finding({ object: { ...finding().object, name: 'b' }, via: [], allowed: ['ops'] })
  expect(fixText(groupFindings([made, plain])[0]!, OPS)).toBe('Set `namespace` to `ops` at steal.yaml:5.')
})
