import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { approve } from '../../../src/verdict/approve.ts'
import {
  BASELINE,
  CLUSTER,
  combinationOf,
  evaluateFleet,
  FLEET,
  headsOf,
  mayApply,
  NAMES,
  objectsOf,
  type World,
} from './approval-world.ts'

const count = fc.nat(6)
const world: fc.Arbitrary<World> = fc.record({
  ...{ fleetCommit: count, fleetContent: fc.nat(300), teamCommit: count, teamContent: fc.nat(300) },
  engine: fc.nat(2),
})

const binding = { cluster: CLUSTER, fleet: FLEET, branch: 'main' }

test('nothing is applied that was not evaluated in the present revisionSet and found clean', () => {
  let applied = 0
  const one = fc.record({
    present: world,
    /** Absent: the present one. */
    evaluated: fc.option(world, { freq: 1 }),
    complete: fc.constantFrom(true, true, true, false),
    where: fc.constantFrom('main', 'main', 'main', 'branch', 'fleet'),
  })
  fc.assert(
    fc.property(one, ({ present, evaluated, complete, where }) => {
      const of = evaluated ?? present
      const heads = headsOf(present, complete)
      const fleet = {
        ...heads.fleet,
        ...(where === 'branch' ? { branch: 'evil' } : {}),
        ...(where === 'fleet' ? { url: 'https://github.com/evil/fleet' } : {}),
      }
      const known = { revisionSet: combinationOf(of), nodes: evaluateFleet(of), baseline: BASELINE }
      const { apply } = approve({ binding, evaluated: known, heads: { ...heads, fleet } })
      const decided = where === 'main' && complete && combinationOf(present) === combinationOf(of)
      const expected = decided ? NAMES.filter(name => mayApply(of, name)) : []
      expect(apply.map(node => node.name)).toEqual(expected)
      for (const node of apply) {
        expect(node.revisionSet).toBe(combinationOf(present))
        expect(node.objects).toEqual(objectsOf(of, node.name as (typeof NAMES)[number]))
        expect(node.impersonated).toBe(true)
      }
      applied += apply.length
    }),
    { numRuns: 3_000, seed: 20250611 },
  )
  // a run that never applies anything would hold the invariant for the wrong reason
  expect(applied).toBeGreaterThan(1000)
}, 120_000)
