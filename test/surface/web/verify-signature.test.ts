import { expect, test } from 'vitest'
import { verifySignature } from '../../../src/surface/web/receive-webhook.ts'
import { sign } from './deliver.ts'

const [now, before, other] = ['n'.repeat(32), 'b'.repeat(32), 'o'.repeat(32)]
const body = '{"zen":"Keep it logically awesome — é"}'

test('while a secret is changed either one is good; afterwards only the new one', () => {
  for (const secret of [now, before]) expect(verifySignature([now, before], body, sign(body, secret))).toBe(true)
  expect(verifySignature([now], body, sign(body, before))).toBe(false)
  expect(verifySignature([now, before], body, sign(body, other))).toBe(false)
})

test('another body, a shorter signature or no secret at all is never good', () => {
  const good = sign(body, now)
  expect(verifySignature([now], `${body} `, good)).toBe(false)
  expect(verifySignature([now], body, good.slice(0, -2))).toBe(false)
  expect(verifySignature([now], body, 'sha256=')).toBe(false)
  expect(verifySignature([], body, good)).toBe(false)
})
