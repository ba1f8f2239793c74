import { expect, test } from 'vitest'
import { EvaluateSession } from '../../../src/verdict/evaluate-sides.ts'
import { groupFindings } from '../../../src/verdict/summary.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { evaluateTrees } from '../../attacks/evaluate-trees.ts'
import { edited, readRecipes } from '../../rules/recipes/read-recipes.ts'

test('an account of a binding that moves to the namespace of another tenant is one cause', () => {
  const world = readRecipes().find(({ document }) => document.startsWith('fluxcd/flux2-multi-tenancy'))!.world
  const account = (namespace: string) => `    name: ops-team\n    namespace: ${namespace}\n`
  const moved = { in: 'fleet/tenants/base/ops-team/rbac.yaml', from: account('ops'), to: account('apps') }
  const { verdict } = evaluateTrees(treesOf(edited(world, [moved])), treesOf(world), new EvaluateSession())
  const groups = groupFindings(verdict.violations.filter(({ state }) => state === 'new'))
  expect(groups.map(({ finding, followers }) => [finding.rule, followers.map(one => one.finding.rule)])).toEqual([
    ['rbac-foreign-subject', ['prune-account-removed']],
  ])
})
