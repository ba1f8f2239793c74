import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { notify } from '../../../src/cluster/status/events.ts'

const LIVE = {
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: {
    namespace: 'apps',
    name: 'shop',
    uid: 'u-1',
    resourceVersion: '7',
    annotations: { 'event.toolkit.fluxcd.io/team': 'blue', note: 'private' },
  },
}
const EVENT = { severity: 'error', reason: 'PruneFailed', message: 'text', metadata: { revision: 'main' } } as const

let answers: number[]
let bodies: unknown[]
let url: string
let close: () => void

beforeEach(async () => {
  answers = []
  bodies = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(answers.shift() ?? 202, { Location: '/elsewhere' }).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => close())

test('an event names its object, with what the Kustomization asks to be passed on and nothing else of it', async () => {
  await notify(url, LIVE, EVENT)
  expect(bodies).toEqual([
    {
      involvedObject: {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        namespace: 'apps',
        name: 'shop',
        uid: 'u-1',
        resourceVersion: '7',
      },
      severity: 'error',
      reason: 'PruneFailed',
      message: 'text',
      metadata: { revision: 'main', 'event.toolkit.fluxcd.io/team': 'blue' },
      reportingController: 'bailiwick',
      reportingInstance: expect.any(String),
      timestamp: expect.any(String),
    },
  ])
})

test('429 is an event that is known there already; what is broken is tried again', async () => {
  answers = [429]
  await notify(url, LIVE, EVENT, { waitsMs: [0] })
  expect(bodies).toHaveLength(1)
  answers = [500, 202]
  await notify(url, LIVE, EVENT, { waitsMs: [0] })
  expect(bodies).toHaveLength(3)
})

test('an address that takes no events is said, and a redirect is not followed', async () => {
  answers = [503, 503]
  await expect(notify(url, LIVE, EVENT, { waitsMs: [0] })).rejects.toThrow('status 503')
  answers = [302, 302]
  await expect(notify(url, LIVE, EVENT, { waitsMs: [0] })).rejects.toMatchObject({ code: 'cluster-unavailable' })
  expect(bodies).toHaveLength(4)
})
