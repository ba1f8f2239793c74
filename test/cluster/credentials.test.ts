import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readCredentials } from '../../src/cluster/credentials.ts'
import { binding } from './cluster-under-test.ts'

describe('credentials of a cluster', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'bailiwick-credentials-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))
  afterEach(() => vi.unstubAllEnvs())

  const kubeconfig = (user: object) => {
    const path = join(directory, 'kubeconfig')
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443/prefix/' } }],
      users: [{ name: 'u', user }],
      contexts: [
        { name: 'a', context: { cluster: 'c', user: 'u' } },
        { name: 'b', context: { cluster: 'c', user: 'nobody' } },
      ],
      'current-context': 'a',
    }
    writeFileSync(path, JSON.stringify(config))
    return binding('staging', path)
  }

  test('a token becomes the Authorization header, and is renewed when asked', async () => {
    const credentials = await readCredentials(kubeconfig({ token: 'secret' }))
    expect(credentials.server.href).toBe('https://api.example:6443/prefix')
    expect((await credentials.access()).headers).toEqual({ Authorization: 'Bearer secret' })
    expect((await credentials.access(true)).headers).toEqual({ Authorization: 'Bearer secret' })
  })

  test('a client certificate goes into the handshake', async () => {
    const data = (text: string) => Buffer.from(text).toString('base64')
    const user = { 'client-certificate-data': data('cert'), 'client-key-data': data('key') }
    const { headers, tls } = await (await readCredentials(kubeconfig(user))).access()
    expect(headers).toEqual({})
    expect([String(tls.cert), String(tls.key)]).toEqual(['cert', 'key'])
  })

  test('the context of clusters.yaml is the one that counts', async () => {
    const result = readCredentials({ ...kubeconfig({ token: 'secret' }), context: 'b' })
    await expect(result).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('context b names no'),
    })
  })

  test('a key that cannot be read is an outage without its content', async () => {
    const credentials = await readCredentials(
      kubeconfig({ 'client-certificate': 'gone.crt', 'client-key': 'gone.key' }),
    )
    await expect(credentials.access()).rejects.toMatchObject({
      code: 'cluster-unavailable',
      message: expect.stringContaining('cluster staging: no credentials: ENOENT'),
    })
  })

  test('a file that is not there, and one that is no kubeconfig', async () => {
    const absent = readCredentials(binding('staging', '/nonexistent/kubeconfig'))
    await expect(absent).rejects.toMatchObject({ code: 'config', message: expect.stringMatching(/does not exist$/) })
    const path = join(directory, 'no-kubeconfig')
    for (const text of ['', 'clusters: [', 'clusters: [{name: c}]']) {
      writeFileSync(path, text)
      await expect(readCredentials(binding('staging', path))).rejects.toMatchObject({ code: 'config' })
    }
  })

  test('without a kubeconfig the worker must be in a cluster', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '')
    const { kubeconfig: _none, ...inCluster } = binding('staging', '')
    await expect(readCredentials(inCluster)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('this process is not in a cluster'),
    })
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '443')
    expect((await readCredentials(inCluster)).server.href).toBe('https://[fd00::1]/')
  })
})

describe('a kubeconfig that is wrong does not show what it holds', () => {
  const SECRET = 'fake-token-in-a-kubeconfig'
  const head = 'apiVersion: v1\nkind: Config\n'
  const rest =
    'clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]\ncontexts: [{name: x, context: {cluster: c, user: a}}]\ncurrent-context: x\n'
  test.each([
    [
      'bad indentation',
      `${head}users:\n- name: a\n  user:\n    token: ${SECRET}\n   bad: [\n`,
      /is not a valid kubeconfig, at line \d+$/,
    ],
    [
      'a key twice',
      `${head}users: [{name: a, user: {token: ${SECRET}, token: ${SECRET}}}]\n${rest}`,
      /is not a valid kubeconfig, at line 3$/,
    ],
    [
      'an alias that there is not',
      `${head}users: [{name: a, user: {token: *${SECRET}}}]\n${rest}`,
      /is not a valid kubeconfig, at line 3$/,
    ],
    [
      'a line break in the token',
      `${head}users: [{name: a, user: {token: "${SECRET}\\nx"}}]\n${rest}`,
      /the token holds a line break/,
    ],
    [
      'a token that no header takes',
      `${head}users: [{name: a, user: {token: "${SECRET}\\u00e9"}}]\n${rest}`,
      /the token holds a line break or other/,
    ],
  ])('%s', async (_what, text, message) => {
    const path = join(mkdtempSync(join(tmpdir(), 'bailiwick-kubeconfig-')), 'config')
    writeFileSync(path, text)
    const read = async () => (await readCredentials(binding('staging', path))).access()
    const error = await read().then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(message) })
    expect(`${error?.message} ${error?.stack} ${JSON.stringify(error)} ${inspect(error)}`).not.toContain(SECRET)
    rmSync(dirname(path), { recursive: true })
  })
})
