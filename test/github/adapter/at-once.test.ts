import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { openTokenClient } from '../../../src/github/client/client-class.ts'

test('ten requests are under way at once, and one alone waits for few timers', async () => {
  let running = 0
  let most = 0
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++running)
    await sleep(20)
    running--
    if (request.url === '/gone') response.statusCode = 404
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = openTokenClient({ baseUrl }, { token: async () => 'ghs_x', refused: () => {} })
  try {
    // a failure gives its place back
    const answers = Array.from({ length: 30 }, (_, at) => client.request(at < 15 ? 'GET /gone' : 'GET /there'))
    const settled = await Promise.allSettled(answers)
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(answers.map((_, at) => at >= 15))
    expect(most).toBe(10)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await client.request('GET /there')
    expect(timers.mock.calls.length).toBeLessThanOrEqual(8)
  } finally {
    vi.restoreAllMocks()
    server.close()
  }
})
