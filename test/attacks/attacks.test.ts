import { describe, expect, test } from 'vitest'
import type { Tree } from '../../src/git/tree.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { changesOf, readCases, treesOf } from './attack-case.ts'
import { evaluateTrees } from './evaluate-trees.ts'
import { comparesSchemas, hasUncompared, isNew, newIn, resultOf, wanted } from './expectation.ts'
import type { Repository } from './worlds/index.ts'

for (const one of readCases()) {
  describe(`${one.id}: ${one.title}`, () => {
    const schemas = comparesSchemas(one)
    const before = treesOf(one.world, one.base)
    test('without the change nothing is found but what stands', () => {
      expect(newIn(verdictOf(before), schemas)).toEqual(wanted(one.stands))
    })
    for (const [name, variant] of one.variants) {
      const expected = variant.expect ?? one.expect
      const after = treesOf(one.world, one.base, changesOf(variant))
      test(name, () => {
        const verdict = verdictOf(after, before)
        expect(newIn(verdict, schemas)).toEqual(wanted(expected))
        if (!hasUncompared(verdict, schemas)) expect(verdict.result).toBe(resultOf(expected))
        for (const place of expected.at ?? []) expect(placesOf(verdict)).toContain(place)
        if (expected.approvals) expect(verdict.requiredApprovals.map(({ path }) => path)).toEqual(expected.approvals)
        for (const text of expected.says ?? []) expect(messagesOf(verdict)).toContain(text)
      })
      test(`${name}, as it stands on a branch`, () => {
        if (!variant.onlyAsChange) expect(newIn(verdictOf(after), schemas)).toEqual(wanted(variant.alone ?? expected))
        // the same again is nothing new
        expect(newIn(verdictOf(after, after), schemas)).toEqual(wanted({}))
      })
    }
  })
}

const verdictOf = (head: ReadonlyMap<Repository, Tree>, base?: ReadonlyMap<Repository, Tree>): Verdict =>
  evaluateTrees(head, base).verdict

const said = ({ violations, warnings, errors }: Verdict) => [...violations, ...warnings, ...errors].filter(isNew)
const placesOf = (verdict: Verdict) => said(verdict).map(({ origin }) => `${origin.file}:${origin.line}`)
const messagesOf = (verdict: Verdict) =>
  said(verdict)
    .map(({ message, fix }) => `${message} ${fix}`)
    .join('\n')
