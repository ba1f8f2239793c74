import { expect, test } from 'vitest'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'

/** A tree of `count` accounts that take an identity in a cloud, each a violation. */
function accounts(count: number, namespace: string): Record<string, string> {
  const all = Array.from(
    { length: count },
    (_, i) =>
      `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a${i}, namespace: ${namespace}, annotations: {eks.amazonaws.com/role-arn: "arn:${i}"}}\n`,
  )
  const parts = [all.slice(0, 4_000), all.slice(4_000)]
  return {
    'deploy/kustomization.yaml': 'resources: [a.yaml, b.yaml]\n',
    'deploy/a.yaml': parts[0]!.join('---\n'),
    'deploy/b.yaml': parts[1]!.join('---\n'),
  }
}

test('findings of one tenant beyond the limit are its error, and others are judged', () => {
  const given = miniFleet({ dev: accounts(6_000, 'apps'), ops: accounts(1, 'ops') })
  const { verdict } = evaluationOf(given, { base: miniFleet() })
  expect(verdict.errors.map(({ code, tenant, node }) => [code, tenant, node])).toEqual([
    ['render-limits', 'dev-team', 'staging/apps/dev-team'],
  ])
  const of = (tenant: string) => verdict.violations.filter(one => one.tenant === tenant).length
  expect([of('dev-team'), of('ops-team')]).toEqual([5_000, 1])
}, 60_000)

test('what is beyond the limit never stands unseen', () => {
  const evaluated = (before: number, after: number) =>
    evaluationOf(miniFleet({ dev: accounts(after, 'apps') }), { base: miniFleet({ dev: accounts(before, 'apps') }) })
      .verdict
  expect(evaluated(5_500, 5_500)).toMatchObject({ result: 'pass', errors: [{ state: 'standing' }] })
  expect(evaluated(5_500, 5_501)).toMatchObject({ result: 'error', errors: [{ state: 'new' }] })
}, 120_000)
