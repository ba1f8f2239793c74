import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { readConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/process/log.ts'
import { registerWebhooks } from '../../../src/receive/register.ts'
import { createReceiver } from '../../../src/start-site.ts'
import { startServer, type WebServer } from '../../../src/surface/web/server.ts'
import { until } from '../../workers/queue/until.ts'
import { environment } from '../config/environment-of.ts'
import { deliver, headersFor, pushPayload, sign } from './deliver.ts'
import { RecordingQueue } from './recording-queue.ts'

const MB = 1024 * 1024
let server: WebServer
let queue: RecordingQueue
const lines: string[] = []
const log = createLog('trace', { write: line => void lines.push(line) })

beforeAll(async () => {
  const config = readConfig(environment({ ALLOWED_ACCOUNTS: 'acme' }))
  const intake = { queue: { add: (...job: Parameters<RecordingQueue['add']>) => queue.add(...job) }, log }
  const receiver = await createReceiver(config, log, probot =>
    registerWebhooks(probot, { ...intake, appId: config.appId, allowedAccounts: config.allowedAccounts }),
  )
  server = await startServer({ host: '127.0.0.1', port: 0, receiver, ready: () => queue.ping(), log })
})
afterAll(() => server.close(100))
beforeEach(() => {
  queue = new RecordingQueue()
  lines.length = 0
})

async function stillServes(): Promise<void> {
  const before = queue.jobs.length
  expect(await deliver(server.url, 'push', pushPayload())).toEqual({ status: 200, text: 'ok\n' })
  expect(queue.jobs).toHaveLength(before + 1)
}

describe('a good delivery', () => {
  test('is stored before 200 is said', async () => {
    const stored = Promise.withResolvers<void>()
    queue.storing = () => stored.promise
    let answered = false
    const delivery = deliver(server.url, 'push', pushPayload()).then(answer => {
      answered = true
      return answer
    })
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(answered).toBe(false)
    stored.resolve()
    expect(await delivery).toEqual({ status: 200, text: 'ok\n' })
    const data = { installation: 7, owner: 'acme', repo: 'fleet', branch: 'main', sha: 'a'.repeat(40) }
    expect(queue.jobs).toEqual([['validate-push', data]])
  })

  test('may be delivered again: the same job', async () => {
    for (let i = 0; i < 2; i++) await deliver(server.url, 'push', pushPayload(), { 'x-github-delivery': 'same' })
    expect(queue.jobs).toHaveLength(2)
    expect(queue.jobs[0]).toEqual(queue.jobs[1])
  })

  test.each(['ping', 'star', 'installation', 'constructor', 'never_heard_of'])(
    'of event %s is fine and ignored',
    async event => {
      expect((await deliver(server.url, event, { zen: 'x' })).status).toBe(200)
      expect(queue.jobs).toEqual([])
    },
  )

  test('of an account that is not served is ignored', async () => {
    expect((await deliver(server.url, 'push', pushPayload('mallory'))).status).toBe(200)
    expect(queue.jobs).toEqual([])
  })

  test('leaves no payload and no secret in the log, and one line per message', async () => {
    await deliver(server.url, 'push', { ...pushPayload(), ref: 'refs/heads/x\u2028"}{', note: 'only-in-payload' })
    const said = lines.join('')
    expect(lines.length).toBeGreaterThan(0)
    expect(said).not.toContain('only-in-payload')
    expect(said).not.toContain('PRIVATE KEY')
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    for (const line of lines) expect(line.trimEnd()).not.toContain('\n')
  })
})

describe('a bad delivery gets a clear line, and the server goes on', () => {
  const good = JSON.stringify(pushPayload())
  test.each<[string, string, Record<string, string | undefined>, number, RegExp]>([
    ['unsigned', good, { 'x-hub-signature-256': undefined }, 401, /X-Hub-Signature-256 is missing/],
    ['signed with sha1 only', good, { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=ab' }, 401, /missing/],
    ['with half a signature', good, { 'x-hub-signature-256': 'sha256=abc' }, 401, /malformed/],
    ['signed with another secret', good, { 'x-hub-signature-256': sign(good, 'x'.repeat(32)) }, 401, /WEBHOOK_SECRET/],
    ['signed for another body', good, { 'x-hub-signature-256': sign(`${good} `) }, 401, /does not match/],
    ['empty', '', {}, 401, /does not match/],
    ['a form', good, { 'content-type': 'application/x-www-form-urlencoded' }, 415, /application\/json/],
    ['without a type', good, { 'content-type': 'text/plain' }, 415, /application\/json/],
    ['compressed', good, { 'content-encoding': 'gzip' }, 415, /plain/],
    ['without an event', good, { 'x-github-event': undefined }, 400, /X-GitHub-Event/],
    ['of a strange event', good, { 'x-github-event': '__proto__' }, 400, /X-GitHub-Event/],
    ['without an id', good, { 'x-github-delivery': undefined }, 400, /X-GitHub-Delivery/],
    ['malformed JSON', '{"ref":', {}, 400, /JSON object/],
    ['no object', '[1]', {}, 400, /JSON object/],
    ['deep', '['.repeat(200_000), {}, 400, /JSON object/],
  ])('%s', async (_, body, headers, status, text) => {
    const answer = await deliver(server.url, 'push', body, headers)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(text)
    expect(answer.text.trimEnd()).not.toContain('\n')
    expect(queue.jobs).toEqual([])
    await stillServes()
  })

  test('malformed JSON is told only to who can sign', async () => {
    const answer = await deliver(server.url, 'push', '{"ref":', { 'x-hub-signature-256': sign('other') })
    expect(answer.status).toBe(401)
  })

  test('a payload of another shape than GitHub documents', async () => {
    for (const payload of [{ ...pushPayload(), ref: 7 }, { ...pushPayload(), repository: 'fleet' }, {}]) {
      expect((await deliver(server.url, 'push', payload)).status).toBeOneOf([200, 500])
    }
    expect(queue.jobs).toEqual([])
    await stillServes()
  })
})

/** Sends with a client that sees the answer while it is still sending. */
async function answerTo(headers: Record<string, string>, send: (request: ClientRequest) => void) {
  const client = request(`${server.url}/api/github/webhooks`, { method: 'POST', headers })
  client.on('error', () => undefined) // cut off while sending, as it should be
  client.flushHeaders()
  send(client)
  const [response] = (await once(client, 'response')) as [IncomingMessage]
  response.on('error', () => undefined).resume()
  return { status: response.statusCode, request: client }
}

describe('size', () => {
  test('over 25 MB as declared: refused before it is sent', async () => {
    const headers = { ...headersFor('push', 'x'), 'content-length': `${26 * MB}` }
    const { status, request } = await answerTo(headers, () => undefined)
    expect(status).toBe(413)
    request.destroy()
    await stillServes()
  })

  test('over 25 MB in chunks: refused once it is, cut off soon after, and memory does not grow with it', async () => {
    const chunk = Buffer.alloc(MB)
    const before = process.memoryUsage().arrayBuffers
    const { status, request } = await answerTo(headersFor('push', 'x'), client => {
      const send = (): void => {
        while (!client.destroyed) if (!client.write(chunk)) return void client.once('drain', send)
      }
      send()
    })
    expect(status).toBe(413)
    const answered = performance.now()
    if (!request.closed) await new Promise(resolve => request.once('close', resolve))
    expect(performance.now() - answered, 'long before the time limit of a request').toBeLessThan(6_000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * MB)
    await stillServes()
  })

  test('exactly 25 MB is read', async () => {
    const frame = JSON.stringify({ ...pushPayload(), pad: '' })
    const body = frame.replace('"pad":""', `"pad":"${'x'.repeat(25 * MB - frame.length)}"`)
    expect(body.length).toBe(25 * MB)
    expect(await deliver(server.url, 'push', body)).toEqual({ status: 200, text: 'ok\n' })
    expect(queue.jobs).toHaveLength(1)
  })

  test('many large bodies at once: some are told to come back, none is held beyond the limit', async () => {
    const body = 'x'.repeat(20 * MB)
    const many = await Promise.all(
      Array.from({ length: 8 }, () => deliver(server.url, 'push', body).catch(() => ({ status: 0 }))),
    )
    for (const { status } of many) expect(status).toBeOneOf([200, 400, 503, 0])
    await stillServes()
  })
})

describe('trouble', () => {
  test('no queue: 503, so that GitHub lists the delivery as failed', async () => {
    queue.storing = async () => {
      throw new BailiwickError('queue-unavailable', 'Redis did not answer')
    }
    expect(await deliver(server.url, 'push', pushPayload())).toMatchObject({ status: 503 })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })

  test('a bug: 500 without its text', async () => {
    queue.storing = async () => {
      throw new TypeError('internal detail')
    }
    const payload = { ...pushPayload(), note: 'only-in-payload' }
    expect(await deliver(server.url, 'push', payload)).toEqual({ status: 500, text: 'internal error\n' })
    expect(lines.join('')).toContain('internal detail')
    expect(lines.join('')).not.toContain('only-in-payload')
    queue.storing = async () => undefined
    await stillServes()
  })

  test('who sends a head or a body too slowly is cut off', { timeout: 40_000 }, async () => {
    const port = Number(new URL(server.url).port)
    const slowHead = connect(port, '127.0.0.1')
    slowHead.write('POST /api/github/webhooks HTTP/1.1\r\nhost: x\r\n')
    const slowBody = connect(port, '127.0.0.1')
    const head = Object.entries(headersFor('push', 'x')).map(([name, value]) => `${name}: ${value}\r\n`)
    slowBody.write(`POST /api/github/webhooks HTTP/1.1\r\nhost: x\r\n${head.join('')}content-length: 100\r\n\r\n{`)
    for (const socket of [slowHead, slowBody]) socket.on('error', () => undefined).resume()
    await Promise.all([slowHead, slowBody].map(socket => once(socket, 'close')))
    await stillServes()
  })

  test('a client that goes away in the middle', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const head = Object.entries(headersFor('push', 'x')).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST /api/github/webhooks HTTP/1.1\r\nhost: x\r\n${head.join('')}content-length: 100\r\n\r\n{`)
    await once(socket, 'connect')
    await until(() => socket.bytesWritten > 100)
    socket.destroy()
    await stillServes()
  })
})

describe('other addresses', () => {
  test.each([
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/', 404],
    ['GET', '/probot', 404],
    ['GET', '/probot/setup', 404],
    ['POST', '/probot/import', 404],
    ['GET', '/ping', 404],
    ['POST', '/healthz', 404],
    ['POST', '/api/github/webhooks/', 404],
    ['POST', '/api/github/webhooks/../webhooks/x', 404],
    ['GET', '/api/github/webhooks', 405],
  ])('%s %s is %i', async (method, path, status) => {
    expect((await fetch(server.url + path, { method })).status).toBe(status)
  })

  test('a port that is taken is an error of the settings', async () => {
    const port = Number(new URL(server.url).port)
    const second = startServer({ host: '127.0.0.1', port, ready: async () => undefined, log })
    await expect(second).rejects.toMatchObject({ code: 'config', message: expect.stringContaining('PORT') })
  })

  test('a process of workers alone hears no webhooks', async () => {
    const worker = await startServer({ host: '127.0.0.1', port: 0, ready: async () => undefined, log })
    expect((await deliver(worker.url, 'push', pushPayload())).status).toBe(404)
    expect((await fetch(`${worker.url}/readyz`)).status).toBe(200)
    await worker.close()
  })
})
