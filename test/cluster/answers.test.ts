import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { binding, type ClusterUnderTest, haveAssets, startUnderTest } from './cluster-under-test.ts'

const user = 'system:serviceaccount:apps:dev-team'

/** In the place of the API server, with its certificate and port, stands one that answers badly. */
describe.skipIf(!haveAssets())('answers that no API server should give', () => {
  let cluster: ClusterUnderTest
  let server: Server
  let client: ClusterClient
  let answer: (request: IncomingMessage, response: ServerResponse, count: number) => void
  let requests: IncomingMessage[]

  beforeAll(async () => {
    cluster = await startUnderTest()
    await cluster.server.pause()
    const certificates = join(dirname(cluster.server.workerKubeconfig), 'certs')
    const read = (name: string) => readFileSync(join(certificates, name))
    server = createServer({ cert: read('apiserver.crt'), key: read('apiserver.key') }, (request, response) => {
      requests.push(request)
      answer(request, response, requests.length)
    })
    await new Promise<void>(resolve => server.listen(Number(new URL(cluster.server.url).port), '127.0.0.1', resolve))
  })
  afterAll(async () => {
    server?.closeAllConnections()
    server?.close()
    await cluster?.stop()
  })
  beforeEach(async () => {
    requests = []
    client = await connect(binding('staging', cluster.server.workerKubeconfig), { timeoutMs: 1000 })
  })
  afterEach(() => client.close())

  const ask = () => client.request({ user }, 'GET', '/api/v1/namespaces/apps/configmaps/x')
  const unavailable = (message: string) => ({ code: 'cluster-unavailable', message: expect.stringContaining(message) })

  test('the account is one header, and there is no group', async () => {
    answer = (_request, response) => response.end('{"kind":"Status"}')
    await ask()
    const names = requests[0]!.rawHeaders.filter((_, index) => index % 2 === 0)
    expect(names.filter(name => /^impersonate/i.test(name))).toEqual(['Impersonate-User'])
    expect(requests[0]!.headers['impersonate-user']).toBe(user)
    await client.request('worker', 'GET', '/api')
    expect(requests[1]!.headers).not.toHaveProperty('impersonate-user')
  })

  test('busy is asked again, later', async () => {
    answer = (_request, response, count) => {
      response.writeHead(count === 1 ? 429 : 200, { 'Retry-After': '1' }).end('{"kind":"Status"}')
    }
    const started = Date.now()
    expect((await ask()).status).toBe(200)
    expect(Date.now() - started).toBeGreaterThan(900)
    expect(requests).toHaveLength(2)
  })

  test('a connection that was closed while it waited is not an outage', async () => {
    answer = (request, response, count) => {
      if (count === 2) request.socket.destroy()
      else response.end('{"kind":"Status"}')
    }
    await ask()
    expect((await ask()).status).toBe(200)
    expect(requests).toHaveLength(3)
  })

  test('what is left of an answer whose length is too small is not taken for the next answer', async () => {
    const [first, rest] = ['{"kind":', '"ConfigMap"}']
    const connections = new Set<unknown>()
    answer = ({ socket }, response, count) => {
      if (count === 1) response.writeHead(200, { 'Content-Length': first.length }).end(first)
      // the rest of it comes late, just before the next answer on the same connection
      else if (connections.has(socket)) socket.write(rest, () => response.end('{"kind":"Status"}'))
      else response.end('{"kind":"Status"}')
      connections.add(socket)
    }
    await expect(ask()).rejects.toMatchObject(unavailable('status 200 without JSON'))
    expect((await ask()).status).toBe(200)
    expect(requests).toHaveLength(2)
  })

  test.each<[string, typeof answer, string]>([
    ['no answer', () => {}, 'no answer in 1 s'],
    [
      'the 404 of something else',
      (_request, response) => response.writeHead(404).end('404 page not found'),
      'the answer is not an object of Kubernetes',
    ],
    ['JSON of something else', (_request, response) => response.end('{}'), 'the answer is not an object of Kubernetes'],
    [
      'half an answer',
      (_, response) => response.write('{') && setTimeout(() => response.destroy(), 20),
      'the connection broke',
    ],
    ['a page of a proxy', (_, response) => response.end('<html>'), 'status 200 without JSON'],
    ['a gateway error', (_, response) => response.writeHead(502).end('Bad Gateway'), 'status 502 without JSON'],
    ['a redirect', (_, response) => response.writeHead(302, { Location: 'https://127.0.0.1:1/' }).end(), 'status 302'],
    [
      'an answer without end',
      (_, response) => {
        const chunk = Buffer.alloc(1024 * 1024, ' ')
        const more = () => response.write(chunk, () => setImmediate(more))
        more()
      },
      'larger than 67108864 bytes',
    ],
  ])('%s is an outage', async (what, badly, message) => {
    answer = badly
    const patient = what === 'an answer without end'
    if (patient) client = await connect(binding('staging', cluster.server.workerKubeconfig), { timeoutMs: 20_000 })
    await expect(ask()).rejects.toMatchObject(unavailable(message))
  })

  test('a redirect with JSON is not followed either', async () => {
    answer = (_, response) => response.writeHead(307, { Location: '/api' }).end('{"message":"go there"}')
    await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('go there') })
    expect(requests).toHaveLength(1)
  })

  test('a message is one line of limited length', async () => {
    const message = `first\r\n::error::second\u001b[31m\u2028\u202e${'x'.repeat(5000)}`
    answer = (_, response) => response.writeHead(422).end(JSON.stringify({ message }))
    const error = await ask().catch(error => error)
    expect(error.code).toBe('cluster-invalid')
    expect(error.message).toMatch(/^first ::error::second \[31m x+… \(\d+ characters\)$/)
    expect(error.message.length).toBeLessThan(2100)
  })
})
