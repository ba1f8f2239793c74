import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { GUARDS, LIMITS, numberOf } from './measure-guards.ts'

/**
 * What weighs on the project, each with today's number as its limit, in guards.json. A limit only goes down; who raises one says
 * why in the commit.
 */
const limits: Record<string, number> = JSON.parse(readFileSync(LIMITS, 'utf8'))

/** From here on a number that fell is to become the limit. */
const CLEARLY_BELOW = 0.98

test('each guard has its limit', () => {
  expect(Object.keys(limits)).toEqual(Object.keys(GUARDS))
})

test.each(Object.entries(GUARDS))('%s', (name, measure) => {
  const measured = measure()
  const [value, limit] = [numberOf(measured), limits[name] ?? 0]
  const places = typeof measured === 'number' ? '' : `\n${measured.join('\n')}`
  const told = `${name}: ${value}, at most ${limit} (test/repository/guards.json)${places}`
  expect(value, told).toBeLessThanOrEqual(limit)
  if (value < limit * CLEARLY_BELOW) {
    console.warn(`${name}: ${value}, and the limit is ${limit}. Lower it: npm run guards -- --set`)
  }
})
