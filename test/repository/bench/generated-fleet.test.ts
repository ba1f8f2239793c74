import { expect, test } from 'vitest'
import { assertClean } from '../../../bench/fleet/assert-clean.ts'
import { generatedFleet, inputOf, withTree } from '../../../bench/fleet/generated-fleet.ts'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { type FleetInput, revisionSetOf } from '../../../src/fleet/model/input.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'

const verdictOf = (input: FleetInput) => evaluateFleet(buildFleet(input), { revisionSet: revisionSetOf(input) }).verdict

test('the fleet of the benches has no finding, and everything of it is visible', () => {
  expect(() => assertClean(verdictOf(inputOf(generatedFleet(2))))).not.toThrow()
})

test('a finding in it ends the bench', () => {
  const generated = generatedFleet(2)
  const [url, files] = [...generated.tenants][0]!
  const broken = new Map([
    ...files,
    ['staging/replicas.yaml', files.get('staging/replicas.yaml')!.replace(/\d+\n$/, 'x\n')],
  ])
  expect(() => assertClean(verdictOf(withTree(inputOf(generated), url, broken)))).toThrow(
    /replicas\.yaml:6: .*replicas/,
  )
  const input = inputOf(generated)
  const [source, ...others] = input.sources
  const opaque = [{ url: source!.url, ref: source!.ref, reason: 'not given' }]
  expect(() => assertClean(verdictOf({ ...input, sources: others, opaque }))).toThrow('is not visible')
})
