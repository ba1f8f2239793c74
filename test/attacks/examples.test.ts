import { expect, test } from 'vitest'
import { exampleOf, type RuleExample } from '../../src/rules/catalogue.ts'
import stored from '../../src/rules/examples.json' with { type: 'json' }
import { rules } from '../../src/rules/registry.ts'
import { exampleOfVariant } from './find-examples.ts'

const examples: readonly (readonly [string, RuleExample])[] = Object.entries(stored)
const REMAKE = 'node test/attacks/make-examples.ts writes the examples anew'

test.each(examples)('the example of %s is answered by that rule alone, in these words', (rule, example) => {
  expect(exampleOfVariant(example.case, example.variant), REMAKE).toEqual({ rule, example })
})

test('every rule has an example, but those whose cases are no short text', () => {
  const without = rules.map(({ id }) => id).filter(id => !exampleOf(id))
  expect(without, REMAKE).toEqual([
    'kind-not-evaluated',
    'kustomize-symlink',
    'rbac-aggregation',
    'rbac-cluster-binding',
    'source-repo-identity',
    'unencrypted-setting',
    'unicode-confusable',
    'waiver-unused',
    'yaml-encoding',
  ])
})
