import { expect, test } from 'vitest'
import { ApiAgent } from '../../src/cluster/send.ts'

const at = { hostname: '10.0.0.1', port: '6443' }
const nameOf = (agent: ApiAgent, tls: Record<string, string | Buffer>) =>
  agent.getName({ ...at, ...tls, credentials: tls })

test('connections of different credentials are never mixed, and those of the same ones are', () => {
  const agent = new ApiAgent()
  const tls = { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') }
  const own = nameOf(agent, tls)
  expect(nameOf(agent, tls)).toBe(own)
  // as they are after they were read again
  expect(nameOf(agent, { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') })).toBe(own)
  const others = [
    ...Object.keys(tls).map(part => ({ ...tls, [part]: Buffer.from('other') })),
    { ...tls, servername: 'other' },
    { ca: tls.ca },
    {},
  ].map(one => nameOf(agent, one))
  expect(new Set([own, ...others]).size).toBe(7)
})
