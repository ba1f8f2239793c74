import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { answersHere, type PolicyFleet } from '../../../../tools/oracles/kyverno-differential/policy-fleet.ts'

const fleets = JSON.parse(
  readFileSync(new URL('golden-fleets.json', import.meta.url), 'utf8'),
) as readonly (PolicyFleet & {
  readonly answers: Readonly<Record<string, string>>
})[]

test.each(fleets.map((fleet, at) => [at, fleet] as const))(
  "random fleet %i is answered as Kyverno's command line answered it",
  (_, { answers, ...fleet }) => {
    expect(Object.keys(answers).length).toBeGreaterThan(0)
    const here = [...answersHere(fleet)].map(([key, { actual }]) => [key, actual])
    expect(Object.fromEntries(here)).toEqual(answers)
  },
)
