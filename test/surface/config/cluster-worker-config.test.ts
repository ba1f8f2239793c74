import { expect, test } from 'vitest'
import { readClusterWorkerConfig } from '../../../src/config.ts'

const environment = {
  WORKER_CLUSTERS: 'staging, production,staging',
  WEB_URL: 'https://bailiwick.example.com/',
  WORKER_KEY_FILE: '/etc/bailiwick/key/key',
  CLUSTERS_FILE: '/etc/bailiwick/clusters.yaml',
}
const read = (more: Readonly<Record<string, string | undefined>> = {}) =>
  readClusterWorkerConfig({ ...environment, ...more }, () => '')

test('a worker in a cluster is one that has WORKER_CLUSTERS', () => {
  expect(readClusterWorkerConfig({}, () => '')).toBeUndefined()
  expect(read()).toMatchObject({
    clusters: ['staging', 'production'],
    webUrl: 'https://bailiwick.example.com',
    workerKeyFile: '/etc/bailiwick/key/key',
    pollSeconds: 5,
  })
})

test.each([
  'APP_ID',
  'PRIVATE_KEY',
  'PRIVATE_KEY_PATH',
  'WEBHOOK_SECRET',
  'WEBHOOK_SECRET_PREVIOUS',
  'CLIENT_SECRET',
  'REDIS_URL',
])('%s does not belong into a cluster: the worker does not start with it', name => {
  expect(() => read({ [name]: 'x' })).toThrow(new RegExp(`^${name} is set for a worker in a cluster$`))
  expect(() => read({ [name]: '' })).not.toThrow()
})

test.each([
  [{ WORKER_CLUSTERS: '' }, /^WORKER_CLUSTERS contains/],
  [{ WORKER_CLUSTERS: 'a,../b' }, /^WORKER_CLUSTERS contains/],
  [{ WEB_URL: undefined }, /^WEB_URL is missing/],
  [{ WEB_URL: 'http://bailiwick.example.com' }, /^WEB_URL would send the key unencrypted/],
  [{ WEB_URL: 'ftp://bailiwick.example.com' }, /^WEB_URL is not an address/],
  [{ WORKER_KEY_FILE: undefined }, /^WORKER_KEY_FILE is missing/],
  [{ CLUSTERS_FILE: undefined }, /^CLUSTERS_FILE is missing/],
])('what is missing or unsafe is named: %j', (more, message) => {
  expect(() => read(more)).toThrow(message)
})

test('http is for this machine only', () => {
  expect(read({ WEB_URL: 'http://127.0.0.1:3000' })?.webUrl).toBe('http://127.0.0.1:3000')
})

test.each([
  ['REDIS_PREFIX', /database of its own/],
  ['VALUES_KEY_FILE', /remove it/],
])('%s of an earlier release is refused with what to do', (name, fix) => {
  expect(() => read({ [name]: 'x' })).toThrow(
    expect.objectContaining({ message: `${name} was removed from the settings`, fix: expect.stringMatching(fix) }),
  )
})
