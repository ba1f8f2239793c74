import { expect, test } from 'vitest'
import { evaluationOf } from '../fleet/fleet-of.ts'
import { DEPLOYMENT, miniFleet } from '../fleet/mini-fleet.ts'

test('a tenant who writes into another one’s namespace turns only its own nodes red', () => {
  const ops = { 'deploy/kustomization.yaml': 'resources: [config.yaml, x.yaml]\n', 'deploy/x.yaml': DEPLOYMENT }
  for (const evaluation of [
    evaluationOf(miniFleet({ ops })),
    evaluationOf(miniFleet({ ops }), { base: miniFleet() }),
  ]) {
    expect(evaluation.verdict.result).toBe('fail')
    expect(new Set(evaluation.verdict.violations.map(one => one.tenant))).toEqual(new Set(['ops-team']))
    const [dev] = evaluation.nodes.filter(({ name }) => name === 'dev-team')
    expect(dev).toMatchObject({ findings: [], failures: [] })
  }
})
