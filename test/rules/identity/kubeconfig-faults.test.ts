import { describe, expect, test } from 'vitest'
import { addressFault, kubeConfigFaults } from '../../../src/rules/identity/kubeconfigs.ts'

const user = (entry: string) => `apiVersion: v1\nkind: Config\nusers:\n  - name: u\n    user: ${entry}\n`
const cluster = (entry: string) => `users: []\nclusters:\n  - name: c\n    cluster: ${entry}\n`
const fields = (text: string, used = false) => kubeConfigFaults(text, used, true).map(fault => fault.field)

describe('a kubeconfig', () => {
  test.each([
    ['exec', '{exec: {command: sh}}'],
    ['auth-provider', '{auth-provider: {name: gcp}}'],
    ['tokenFile', '{tokenFile: /a}'],
    ['client-certificate', '{client-certificate: /a, token: x}'],
    ['client-key', '{client-key: /a, token: x}'],
    ['EXEC', '{EXEC: {command: sh}}'],
  ])('has the fault %s', (field, entry) => {
    expect(fields(user(entry))).toEqual([field])
  })

  test('may hold credentials as data, and empty fields', () => {
    expect(
      fields(user('{token: x, client-certificate-data: x, client-key-data: x, exec: null, tokenFile: ""}')),
    ).toEqual([])
    expect(fields(cluster('{server: "https://10.0.0.1:6443", certificate-authority-data: x}'))).toEqual([])
  })

  test('checks whom it talks to', () => {
    expect(fields(cluster('{server: "https://a.example.com", insecure-skip-tls-verify: true}'))).toEqual([
      'insecure-skip-tls-verify',
    ])
    expect(fields(cluster('{server: "https://a.example.com", insecure-skip-tls-verify: false}'))).toEqual([])
    expect(fields(cluster('{server: "https://a.example.com", proxy-url: "http://127.0.0.1:1"}'))).toEqual(['proxy-url'])
    expect(fields(cluster('{certificate-authority: /a, server: "https://a.example.com"}'))).toEqual([
      'certificate-authority',
    ])
  })

  test('is read in every document, and as JSON', () => {
    expect(fields(`${user('{token: x}')}---\n${user('{exec: {}}')}`)).toEqual(['exec'])
    expect(fields(JSON.stringify({ users: [{ user: { exec: { command: 'sh' } } }] }))).toEqual(['exec'])
  })

  test('that readers disagree about is a fault where something reads it', () => {
    const twice = 'users: []\nusers: [{user: {exec: {}}}]\nserver: a\n'
    expect(fields(twice)).toEqual([''])
    const escaped = '"\\u0075sers": [{user: {"ex\\u0065c": {command: sh}}}]\n'
    expect(fields(escaped)).toEqual([])
    expect(fields(escaped, true)).toEqual(['exec'])
  })

  test('is not every text with these words', () => {
    expect(fields('our users run exec on clusters of a server')).toEqual([])
    expect(fields('users: [{name: a}]\nserver: http://localhost\n')).toEqual([])
  })
})

test.each([
  ['https://api.example.com:6443', undefined],
  ['https://192.168.1.1', undefined],
  ['', undefined],
  ['http://api.example.com', 'sends credentials without TLS'],
  ['https://0x7f.1', 'calls a loopback address'],
  ['127.0.0.1', 'calls a loopback address'],
  ['https://[::ffff:169.254.169.254]', 'calls a link-local address (cloud metadata)'],
  ['https://kubernetes.default.svc:443', 'calls a service of the cluster'],
  ['https://', 'is not an address'],
])('the address %j: %s', (address, fault) => {
  expect(addressFault(address)).toBe(fault)
})
