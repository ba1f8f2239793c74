import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { EvaluateSession } from '../../src/verdict/evaluate-sides.ts'
import { longTexts } from '../report/short-texts.ts'
import { type AttackCase, changesOf, readCase, treesOf, type Variant } from './attack-case.ts'
import { type Built, buildTrees, evaluateBuilt } from './evaluate-trees.ts'
import { comparesSchemas, hasUncompared, isNew, newIn, resultOf, wanted } from './expectation.ts'
import { casesOfShare } from './shares.ts'
import type { World } from './worlds/index.ts'

const sessions = new Map<World, EvaluateSession>()

/** The session of a world, warm from the cases before. */
function sessionOf(world: World): EvaluateSession {
  const session = sessions.get(world) ?? new EvaluateSession()
  sessions.set(world, session)
  return session
}

/**
 * The tests of one share of the cases. Nothing is built before a test runs. A change is evaluated from scratch, as by the
 * command line; its base, and the branch by itself, in a session, as by the App.
 */
export function evaluateCases(share: number): void {
  for (const one of casesOfShare(share).map(readCase)) {
    describe(`${one.id}: ${one.title}`, () => {
      const session = sessionOf(one.world)
      let known: Built | undefined
      const base = () => {
        known ??= buildTrees(treesOf(one.world, one.base), undefined, session)
        return known
      }
      test('without the change nothing is found but what stands', () => {
        const { verdict } = evaluateBuilt(base())
        expect(newIn(verdict, comparesSchemas(one))).toEqual(wanted(one.stands))
      })
      for (const [name, variant] of one.variants) {
        test(name, () => testChange(one, variant, base()))
        test(`${name}, as it stands on a branch`, () => testBranch(one, variant))
      }
    })
  }
}

function testChange(one: AttackCase, variant: Variant, base: Built): void {
  const expected = variant.expect ?? one.expect
  const { verdict } = evaluateBuilt(buildTrees(treesOf(one.world, one.base, changesOf(variant)), base), base)
  const schemas = comparesSchemas(one)
  expect(newIn(verdict, schemas)).toEqual(wanted(expected))
  if (!hasUncompared(verdict, schemas)) expect(verdict.result).toBe(resultOf(expected))
  for (const place of expected.at ?? []) expect(placesOf(verdict)).toContain(place)
  if (expected.approvals) expect(verdict.requiredApprovals.map(({ path }) => path)).toEqual(expected.approvals)
  for (const text of expected.says ?? []) expect(messagesOf(verdict)).toContain(text)
  expect(longTexts(verdict)).toEqual([])
}

function testBranch(one: AttackCase, variant: Variant): void {
  const session = sessionOf(one.world)
  const trees = treesOf(one.world, one.base, changesOf(variant))
  const schemas = comparesSchemas(one)
  const branch = buildTrees(trees, undefined, session)
  if (!variant.onlyAsChange) {
    const expected = variant.alone ?? variant.expect ?? one.expect
    expect(newIn(evaluateBuilt(branch, undefined, session).verdict, schemas)).toEqual(wanted(expected))
  }
  // the same again is nothing new
  const again = buildTrees(trees, branch, session)
  expect(newIn(evaluateBuilt(again, branch, session).verdict, schemas)).toEqual(wanted({}))
}

const found = ({ violations, warnings, errors }: Verdict) => [...violations, ...warnings, ...errors].filter(isNew)
const placesOf = (verdict: Verdict) => found(verdict).map(({ origin }) => `${origin.file}:${origin.line}`)
const messagesOf = (verdict: Verdict) =>
  found(verdict)
    .map(({ message, fix }) => `${message} ${fix}`)
    .join('\n')
