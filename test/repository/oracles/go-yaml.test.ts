import { expect, test } from 'vitest'
import { holdYaml } from '../../../tools/oracles/yaml-cases.ts'
import { findProgram, programs } from '../runner/programs.ts'

const program = findProgram('go-yaml')
const CASES = 5000

test(`${CASES} texts have the values that kustomize gives them, or are refused`, { timeout: 120_000 }, context => {
  if (!program) return context.skip(`go-yaml is missing: ${programs['go-yaml'].get}`)
  const { equal, bothRefuse, refused, wrong } = holdYaml(program, 1, CASES)
  expect(wrong).toEqual([])
  expect(equal).toBeGreaterThan(CASES / 4)
  expect(bothRefuse).toBeGreaterThan(CASES / 10)
  expect(equal + bothRefuse + refused).toBe(CASES)
})
