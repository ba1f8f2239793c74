import { describe, expect, test } from 'vitest'
import { hostileFixtures, renderHostile } from '../../tools/oracles/hostile-fixtures.ts'

describe('fields that write hostile keys and values, as the real programs answer them', () => {
  for (const [index, fixture] of hostileFixtures().entries()) {
    test(`${index}`, () => {
      const { refused, ...got } = renderHostile(fixture)
      if (fixture.refused) expect(refused).toBe(fixture.refused)
      else expect(got).toEqual(fixture.expected)
    })
  }
})
