import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readKubeConfig } from '../../../src/cluster/remote/read-kubeconfig.ts'

const WHERE = 'Secret apps/x, key value'
const SERVER = 'https://proxy.example:9001'

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly more?: object
}

const file = ({ cluster, user, context, more }: Parts = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  preferences: {},
  clusters: [{ name: 'c', cluster: { server: SERVER, 'certificate-authority-data': 'Y2E=', ...cluster } }],
  users: [{ name: 'u', user: user ?? { token: 'tenant-token' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'apps', ...context } }],
  'current-context': 'x',
  ...more,
})
const read = (text: string) => readKubeConfig(Buffer.from(text), WHERE)
const readParts = (parts: Parts) => read(JSON.stringify(file(parts)))
function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    expect(error).toMatchObject({ code: 'cluster-invalid' })
    return (error as Error).message
  }
  return 'nothing was refused'
}

describe('a kubeconfig of a tenant', () => {
  let directory: string
  let cert: string
  let key: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'bailiwick-remote-'))
    const [crt, pem] = [join(directory, 'a.crt'), join(directory, 'a.key')]
    const subject = ['-subj', '/CN=tenant', '-days', '1', '-nodes']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', pem, '-out', crt, ...subject], {
      stdio: 'ignore',
    })
    cert = readFileSync(crt).toString('base64')
    key = readFileSync(pem).toString('base64')
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  test('as Capsule writes it: address, certificates that are not used, and a token', () => {
    expect(readParts({})).toEqual({
      server: SERVER,
      serverName: '',
      headers: { Authorization: 'Bearer tenant-token' },
      tls: {},
    })
  })

  test('a client certificate, in YAML, beside entries that are not used', () => {
    const text = `
apiVersion: v1
kind: Config
clusters:
- {name: other, cluster: {server: "http://elsewhere", insecure-skip-tls-verify: true}}
- name: c
  cluster: {server: "${SERVER}/", insecure-skip-tls-verify: false, proxy-url: "", disable-compression: true}
users:
- {name: other, user: {exec: {command: sh}}}
- name: u
  user: {client-certificate-data: ${cert}, client-key-data: ${key}, token: ""}
contexts:
- {name: x, context: {cluster: c, user: u}}
current-context: x
`
    const { server, headers, tls } = read(text)
    expect({ server, headers }).toEqual({ server: SERVER, headers: {} })
    expect(String(tls.cert)).toContain('BEGIN CERTIFICATE')
  })

  test('the name of a certificate is passed on, for whoever allows it', () => {
    expect(readParts({ cluster: { 'tls-server-name': 'api.internal' } }).serverName).toBe('api.internal')
  })

  test.each<[string, Parts, string]>([
    ['exec', { user: { exec: { command: 'sh' } } }, 'users[].user.exec: would run a program'],
    ['exec beside a token', { user: { token: 't', exec: {} } }, 'users[].user.exec: would run a program'],
    ['a plugin', { user: { 'auth-provider': { name: 'gcp' } } }, 'users[].user.auth-provider: would load a plugin'],
    ['a token from a file', { user: { tokenFile: '/var/run/token' } }, 'users[].user.tokenFile: would read a file'],
    ['a token and a file', { user: { token: 't', tokenFile: '/x' } }, 'users[].user.tokenFile: would read a file'],
    [
      'a certificate from a file',
      { user: { 'client-certificate': '/x', 'client-key': '/y' } },
      'users[].user.client-certificate: would read a file',
    ],
    [
      'a CA from a file',
      { cluster: { 'certificate-authority': '/etc/passwd' } },
      'clusters[].cluster.certificate-authority: would read a file',
    ],
    ['a proxy', { cluster: { 'proxy-url': 'http://169.254.169.254' } }, 'clusters[].cluster.proxy-url: would send'],
    ['a SOCKS proxy', { cluster: { 'proxy-url': 'socks5://x' } }, 'clusters[].cluster.proxy-url: would send'],
    [
      'no check of the certificate',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'clusters[].cluster.insecure-skip-tls-verify: not allowed',
    ],
    [
      'no check of the certificate, as a text',
      { cluster: { 'insecure-skip-tls-verify': 'true' } },
      'clusters[].cluster.insecure-skip-tls-verify: not allowed',
    ],
    ['another user', { user: { token: 't', as: 'system:admin' } }, 'users[].user.as: would act as another user'],
    ['other groups', { user: { token: 't', 'as-groups': ['system:masters'] } }, 'users[].user.as-groups: would act'],
    ['other extra', { user: { token: 't', 'as-user-extra': { a: ['b'] } } }, 'users[].user.as-user-extra: would act'],
    ['another uid', { user: { token: 't', 'as-uid': '1' } }, 'users[].user.as-uid: would act'],
    ['a password', { user: { username: 'a', password: 'b' } }, 'users[].user.username: not supported'],
    ['another spelling', { user: { token: 't', Exec: {} } }, 'users[].user.Exec: not supported'],
    ['a field of a later version', { user: { token: 't', 'new-field': 1 } }, 'users[].user.new-field: not supported'],
    ['a secret as a name', { user: { 'a b=c/d': 'x' } }, 'users[].user.?: not supported'],
    ['no credentials', { user: { extensions: [] } }, 'users[].user: no credentials'],
    ['a token with a line break', { user: { token: 'a\r\nX: y' } }, 'users[].user.token: not a token'],
    ['a number as a token', { user: { token: 5 } }, 'users[].user: no credentials'],
    ['a certificate without key', { user: { 'client-certificate-data': 'YQ==' } }, 'a certificate without its key'],
    [
      'a certificate that is none',
      { user: { 'client-certificate-data': 'YQ==', 'client-key-data': 'YQ==' } },
      'are not a certificate and its key',
    ],
    ['plain http', { cluster: { server: 'http://proxy.example:9001' } }, 'clusters[].cluster.server: not allowed'],
    ['no scheme', { cluster: { server: 'proxy.example:9001' } }, 'clusters[].cluster.server: not allowed'],
    ['a user in the address', { cluster: { server: 'https://a:b@proxy.example:9001' } }, 'server: not allowed'],
    ['an empty user', { cluster: { server: 'https://@proxy.example:9001' } }, 'server: not allowed'],
    ['a query', { cluster: { server: `${SERVER}/?x=1` } }, 'server: not allowed'],
    ['a fragment', { cluster: { server: `${SERVER}#x` } }, 'server: not allowed'],
    ['a backslash', { cluster: { server: 'https:\\\\proxy.example' } }, 'server: not allowed'],
    ['a line break', { cluster: { server: 'https://proxy.example\n.evil.example' } }, 'server: not allowed'],
    ['a file', { cluster: { server: 'file:///etc/passwd' } }, 'server: not allowed'],
    ['a socket', { cluster: { server: 'unix:///run/x.sock' } }, 'server: not allowed'],
    ['no address', { cluster: { server: '' } }, 'server: not allowed'],
    ['no context', { more: { 'current-context': '' } }, 'current-context: not set'],
    ['a context that is not there', { more: { 'current-context': 'y' } }, 'contexts: not exactly one entry'],
    ['a cluster that is not there', { context: { cluster: 'z' } }, 'clusters: not exactly one entry'],
    ['no user', { context: { user: '' } }, 'users: not exactly one entry'],
    ['a field beside', { more: { exec: { command: 'sh' } } }, 'exec: would run a program'],
    [
      'two clusters of one name',
      { more: { clusters: [1, 2].map(() => ({ name: 'c', cluster: { server: SERVER } })) } },
      'clusters: not exactly one entry',
    ],
    [
      'two users of one name',
      {
        more: {
          users: [
            { name: 'u', user: { token: 't' } },
            { name: 'u', user: { exec: {} } },
          ],
        },
      },
      'users: not exactly one entry',
    ],
  ])('%s is refused by name', (_, parts, expected) => {
    expect(refusal(() => readParts(parts))).toContain(`${WHERE}: `)
    expect(refusal(() => readParts(parts))).toContain(expected)
  })

  test.each([
    ['nothing', ''],
    ['a text', 'hello'],
    ['a list', '[]'],
    ['two documents', `${JSON.stringify(file())}\n---\n${JSON.stringify(file())}`],
    ['broken YAML', 'users: [{name: u, user: {token: very-secret}\n  x'],
    ['a key twice', '{"users": [], "users": [{"name": "very-secret"}]}'],
    ['bytes', '\xff\xfe'],
    ['more than is read', `# ${'x'.repeat(300_000)}\n${JSON.stringify(file())}`],
  ])('%s is no kubeconfig, and nothing of it is quoted', (_, text) => {
    const message = refusal(() => read(text))
    expect(message).toMatch(/not a kubeconfig|larger than|current-context/)
    expect(message).not.toContain('very-secret')
  })

  test('no message holds a value of the file', () => {
    const user = { token: 'very-secret', password: 'very-secret', exec: { env: [{ value: 'very-secret' }] } }
    expect(refusal(() => readParts({ user }))).not.toContain('very-secret')
  })
})
