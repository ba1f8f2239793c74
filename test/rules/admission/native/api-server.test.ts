import { expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../../tools/envtest/assets.ts'
import { compareWithApiServer } from './ask-api-server.ts'

/** POLICY_QUESTIONS: how many; 10,000 take about five minutes. */
const COUNT = Number(process.env.POLICY_QUESTIONS ?? 400)

test('random policies, objects, accounts and operations have the answers of a real API server', async ctx => {
  if (!findAssets()) ctx.skip(NO_ASSETS)
  const { asked, different, notEvaluated, denials } = await compareWithApiServer(COUNT, 7)
  expect(different).toEqual([])
  expect(notEvaluated.length / asked).toBeLessThan(0.02)
  expect(denials).toBeGreaterThan(asked / 100)
}, 900_000)
