import { expect, test } from 'vitest'
import { missing } from '../status/flux-world.ts'
import { compareHistories } from './histories.ts'

/** `npm run differential:worker` runs more of them. */
const SEEDS = Array.from({ length: 25 }, (_, at) => 1 + at)

test('random histories end alike: seeds 1 to 25', async ({ skip }) => {
  if (missing !== undefined) return skip(missing)
  const departures = await compareHistories(SEEDS)
  expect(departures.filter(({ known }) => known === undefined)).toEqual([])
}, 400_000)
