import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildFleet } from '../../../../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../../../../src/fleet/model/fleet.ts'
import { retainOf, revisionSetOf } from '../../../../src/fleet/model/input.ts'
import { sameDeep } from '../../../../src/fleet/model/same-node.ts'
import { evaluateFleet } from '../../../../src/verdict/evaluate-fleet.ts'
import { EvaluateSession } from '../../../../src/verdict/evaluate-sides.ts'
import { anyEdit, edited } from './random-edit.ts'
import { firstWorld, inputOf, type World } from './random-world.ts'

const numRuns = Number(process.env.BAILIWICK_SESSION_RUNS ?? 40)

/** Each step is evaluated by itself, or against the world of a step before it. */
const history = fc.array(fc.record({ edits: fc.array(anyEdit(), { minLength: 1, maxLength: 2 }), base: fc.nat(3) }), {
  minLength: 1,
  maxLength: 7,
})

test('what a session answers is what a full run answers, whatever was changed before', { timeout: 600_000 }, () => {
  let findings = 0
  let built = 0
  let walked = 0
  fc.assert(
    fc.property(history, steps => {
      const session = new EvaluateSession()
      let worlds: World[] = [firstWorld()]
      step(session, worlds[0]!, undefined)
      for (const { edits, base } of steps) {
        const world = edits.reduce(edited, worlds[0]!)
        findings += step(session, world, base === 0 ? undefined : worlds[Math.min(base, worlds.length) - 1])
        worlds = [world, ...worlds]
      }
      built += 1 + steps.reduce((sum, { base }) => sum + (base === 0 ? 1 : 2), 0)
      walked += session.work.walked
    }),
    { seed: 20261121, numRuns },
  )
  // the worlds must be worth evaluating, and sessions must spare something
  expect(findings).toBeGreaterThan(numRuns)
  expect(walked).toBeLessThan(built * 0.8)
})

/** Evaluates in both ways; how much was found. */
function step(session: EvaluateSession, world: World, base: World | undefined): number {
  // trees are made anew for each, so that nothing is known by who gave it
  const inputs = () => ({ head: inputOf(world, base), base: base && inputOf(base) })
  const given = inputs()
  const before = given.base && session.build(given.base)
  const head = session.build({ ...given.head, ...retained(before) })
  const options = { revisionSet: revisionSetOf(given.head), ...(before ? { base: before } : {}) }
  const answer = session.evaluateFleet(head, options)
  const anew = inputs()
  const wholeBefore = anew.base && buildFleet(anew.base)
  const whole = buildFleet({ ...anew.head, ...retained(wholeBefore) })
  const expected = evaluateFleet(whole, { ...options, ...(wholeBefore ? { base: wholeBefore } : {}) })
  expect(answer).toEqual(expected)
  expect(JSON.stringify(answer)).toBe(JSON.stringify(expected))
  expect(sameDeep(withoutTrees(head), withoutTrees(whole))).toBe(true)
  return expected.verdict.violations.length + expected.verdict.errors.length
}

const retained = (base: Fleet | undefined) => (base ? { retain: retainOf(base) } : {})

const withoutTrees = (fleet: Fleet) => ({
  ...fleet,
  repositories: fleet.repositories.map(({ url, ref, tree }) => ({ url, ref, tree: tree.id })),
})
