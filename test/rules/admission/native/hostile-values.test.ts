import { expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../../tools/envtest/assets.ts'
import { compareHostile } from './compare-hostile.ts'
import { HOSTILE_TEXTS } from './hostile-values.ts'

/** HOSTILE_TEXTS=all: each of them with each expression, 34,000 questions. */
const texts = process.env.HOSTILE_TEXTS === 'all' ? HOSTILE_TEXTS : HOSTILE_TEXTS.filter((_, index) => index % 5 === 0)

test('expressions about hostile texts have the answers of a real API server', async ctx => {
  if (!findAssets()) ctx.skip(NO_ASSETS)
  const { asked, different, notEvaluated } = await compareHostile(texts)
  expect(different).toEqual([])
  expect(notEvaluated.length).toBeLessThan(asked / 200)
  expect(asked).toBeGreaterThan(texts.length * 85)
}, 300_000)
