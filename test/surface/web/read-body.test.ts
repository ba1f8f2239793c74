import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { BodyReader, MAX_BODY } from '../../../src/surface/web/answer.ts'
import { until } from '../../workers/queue/until.ts'

const chunk = Buffer.alloc(1024 * 1024)

/** A request whose body a test feeds; `taken` counts the bytes that somebody read. */
function requestOf(chunks: number, headers: Record<string, string> = {}, end = true) {
  let left = chunks
  const state = { taken: 0 }
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      if (left-- > 0) {
        state.taken += chunk.length
        this.push(chunk)
      } else if (end) this.push(null)
    },
  })
  const request = Object.assign(stream, { headers, complete: true }) as unknown as IncomingMessage
  return { request, state, finish: () => stream.push(null), cut: () => stream.destroy() }
}

describe('the body of a request', () => {
  test('up to the limit is read', async () => {
    const body = await new BodyReader().read(requestOf(25).request)
    expect((body as Buffer).length).toBe(MAX_BODY)
  })

  test('that says to be larger is not touched', async () => {
    const { request, state } = requestOf(100, { 'content-length': `${MAX_BODY + 1}` })
    expect(await new BodyReader().read(request)).toBe('too-large')
    expect(state.taken).toBe(0)
  })

  test('that turns out larger is left as soon as it is', async () => {
    const { request, state } = requestOf(1_000)
    expect(await new BodyReader().read(request)).toBe('too-large')
    expect(state.taken).toBeLessThanOrEqual(MAX_BODY + 3 * chunk.length)
    expect(request.destroyed).toBe(false)
  })

  test('waits its turn when four of the largest are held, and gets it when they are done', async () => {
    const reader = new BodyReader()
    const held = Array.from({ length: 4 }, () => requestOf(25, {}, false))
    const reading = held.map(({ request }) => reader.read(request))
    await until(() => held.every(({ state }) => state.taken === MAX_BODY))
    expect(await reader.read(requestOf(1).request)).toBe('busy')
    for (const { finish } of held) finish()
    await Promise.all(reading)
    expect(await reader.read(requestOf(25).request)).toBeInstanceOf(Buffer)
  })

  test('that breaks off is no body, and is no longer held', async () => {
    const reader = new BodyReader()
    for (let i = 0; i < 8; i++) {
      const { request, state, cut } = requestOf(25, {}, false)
      const reading = reader.read(request)
      await until(() => state.taken === MAX_BODY)
      cut()
      expect(await reading).toBe('aborted')
    }
    expect(await reader.read(requestOf(1).request)).toBeInstanceOf(Buffer)
  })
})
