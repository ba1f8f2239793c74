import { describe, expect, test } from 'vitest'
import { buildFleet } from '../../src/fleet/build-fleet.ts'
import { combinationOf } from '../../src/fleet/combination.ts'
import type { FleetInput, OpaqueSource, SourceContent } from '../../src/fleet/input.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { Verdict } from '../../src/rules/finding.ts'
import { judge } from '../../src/rules/judge.ts'
import { changesOf, readCases, treesOf } from './attack-case.ts'
import { isNew, newIn, resultOf, wanted } from './expectation.ts'
import type { Repository } from './worlds/index.ts'

for (const one of readCases()) {
  describe(`${one.id}: ${one.title}`, () => {
    const before = treesOf(one.world, one.base)
    test('without the change nothing is found but what stands', () => {
      expect(newIn(verdictOf(before))).toEqual(wanted(one.stands))
    })
    for (const [name, variant] of one.variants) {
      const expected = variant.expect ?? one.expect
      const after = treesOf(one.world, one.base, changesOf(variant))
      test(name, () => {
        const verdict = verdictOf(after, before)
        expect(newIn(verdict)).toEqual(wanted(expected))
        expect(verdict.result).toBe(resultOf(expected))
        for (const place of expected.at ?? []) expect(placesOf(verdict)).toContain(place)
        for (const text of expected.says ?? []) expect(messagesOf(verdict)).toContain(text)
      })
      test(`${name}, as it stands on a branch`, () => {
        if (!variant.onlyAsChange) expect(newIn(verdictOf(after))).toEqual(wanted(variant.alone ?? expected))
        // the same again is nothing new
        expect(newIn(verdictOf(after, after))).toEqual(wanted({}))
      })
    }
  })
}

function verdictOf(head: ReadonlyMap<Repository, Tree>, base?: ReadonlyMap<Repository, Tree>): Verdict {
  const input = complete(head, base)
  const before = base && buildFleet(complete(base))
  return judge(buildFleet(input), { combination: combinationOf(input), ...(before ? { base: before } : {}) }).verdict
}

/** Asks for sources as the program does, until nothing is missing. */
function complete(trees: ReadonlyMap<Repository, Tree>, base?: ReadonlyMap<Repository, Tree>): FleetInput {
  const [[first, tree], ...others] = [...trees] as [[Repository, Tree], ...[Repository, Tree][]]
  const config = base && [...base.values()][0]
  const fleet = { url: first.url, branch: first.branch, commit: '', tree }
  const sources: SourceContent[] = []
  const opaque: OpaqueSource[] = []
  for (;;) {
    const input = { fleet, sources: [...sources], opaque: [...opaque], ...(config ? { config } : {}) }
    const { wanted: missing } = buildFleet(input)
    if (missing.length === 0) return input
    for (const { url, ref } of missing) {
      const found = others.find(([one]) => normaliseUrl(one.url) === url && one.branch === (ref.branch ?? ref.name))
      if (found) sources.push({ url, ref, commit: '', tree: found[1] })
      else opaque.push({ url, ref, reason: 'it is not part of this world' })
    }
  }
}

const said = ({ violations, warnings, errors }: Verdict) => [...violations, ...warnings, ...errors].filter(isNew)
const placesOf = (verdict: Verdict) => said(verdict).map(({ origin }) => `${origin.file}:${origin.line}`)
const messagesOf = (verdict: Verdict) =>
  said(verdict)
    .map(({ message, fix }) => `${message} ${fix}`)
    .join('\n')
