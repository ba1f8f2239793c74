import { expect, test } from 'vitest'
import { guardedChanges } from '../../../../src/verdict/required-approvals.ts'

const ruleOf = (path: string) => guardedChanges(new Set([path])).map(one => one.rule)

test.for([
  '.github/bailiwick.yaml',
  '.github/bailiwick-baseline.yaml',
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  '.github/codeowners',
  'Docs/Codeowners',
])('%s decides what is allowed', path => expect(ruleOf(path)).toEqual(['gate-config-change']))

test.for([
  '.github/workflows/ci.yaml',
  '.github/workflows/deep/x',
  '.GitHub/Workflows/x.yml',
  '.github/actions/a/action.yml',
])('%s runs with rights', path => expect(ruleOf(path)).toEqual(['gate-workflow-change']))

test.for([
  '.github/workflows/README.md',
  'tenants/CODEOWNERS',
  '.github/ISSUE_TEMPLATE/x.yml',
  'workflows/x.yaml',
  'bailiwick.yaml',
  '',
])('%j is like any other file', path => expect(ruleOf(path)).toEqual([]))

test('several come in the order of their paths', () => {
  const found = guardedChanges(new Set(['x', 'CODEOWNERS', '.github/workflows/a', '.github/bailiwick.yaml']))
  expect(found.map(one => one.path)).toEqual(['.github/bailiwick.yaml', '.github/workflows/a', 'CODEOWNERS'])
})
