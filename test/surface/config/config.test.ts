import { generateKeyPairSync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig, readWorkerConfig } from '../../../src/config.ts'
import { createLog } from '../../../src/process/log.ts'
import { environment, privateKey, webhookSecret } from './environment-of.ts'

const noFile = (): never => {
  throw new Error('no such file')
}

describe('settings', () => {
  test('three variables are enough, the rest has defaults', () => {
    const config = readConfig({ ...environment(), PORT: undefined })
    expect(config).toMatchObject({
      appId: 4711,
      redisUrl: undefined,
      clustersFile: undefined,
      allowedAccounts: undefined,
      githubApiUrl: 'https://api.github.com',
      cacheMb: 1024,
      logLevel: 'info',
      resyncSeconds: 60,
      pruneShare: 30,
      pruneAtLeast: 10,
      trail: true,
      sweepSeconds: 3600,
      jobLockMs: 30_000,
      renderThreads: availableParallelism(),
      renderTimeoutMs: 60_000,
      renderHeapMb: 1024,
      host: '127.0.0.1',
      port: 3000,
    })
    expect(config.webhookSecret).toBe(webhookSecret)
    expect(config.cacheDir).toMatch(/bailiwick$/)
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('every variable is read', () => {
    const config = readConfig(
      environment({
        REDIS_URL: 'rediss://:pass@redis:6380/1',
        CLUSTERS_FILE: 'package.json',
        ALLOWED_ACCOUNTS: ' Acme, acme-labs,acme ',
        GITHUB_API_URL: 'https://ghe.example.com/api/v3/',
        CACHE_DIR: '/var/cache/bailiwick',
        CACHE_MB: '2048',
        LOG_LEVEL: 'debug',
        RESYNC_SECONDS: '5',
        PRUNE_SHARE: '50',
        PRUNE_AT_LEAST: '100',
        TRAIL: 'off',
        SWEEP_SECONDS: '600',
        JOB_LOCK_MS: '2000',
        RENDER_THREADS: '3',
        RENDER_TIMEOUT_MS: '1000',
        RENDER_HEAP_MB: '256',
        HOST: '0.0.0.0',
        PORT: '8080',
      }),
    )
    expect(config).toMatchObject({
      allowedAccounts: ['acme', 'acme-labs'],
      githubApiUrl: 'https://ghe.example.com/api/v3',
      cacheDir: '/var/cache/bailiwick',
      cacheMb: 2048,
      logLevel: 'debug',
      resyncSeconds: 5,
      pruneShare: 50,
      pruneAtLeast: 100,
      trail: false,
      sweepSeconds: 600,
      jobLockMs: 2000,
      renderThreads: 3,
      renderTimeoutMs: 1000,
      renderHeapMb: 256,
      host: '0.0.0.0',
      port: 8080,
    })
    expect(config.redisUrl).toBe('rediss://:pass@redis:6380/1')
    expect(config.clustersFile).toMatch(/^\/.*package\.json$/)
  })

  test('the key may be PEM, PEM with \\n written out, base64, or a file; it ends as PKCS#8', () => {
    const { privateKey: pkcs8 } = readConfig(environment())
    expect(pkcs8).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    const escaped = environment({ PRIVATE_KEY: privateKey.replaceAll('\n', '\\n') })
    const base64 = environment({ PRIVATE_KEY: Buffer.from(privateKey).toString('base64') })
    const file = environment({ PRIVATE_KEY: undefined, PRIVATE_KEY_PATH: '/keys/app.pem' })
    for (const env of [escaped, base64, file]) expect(readConfig(env, () => privateKey).privateKey).toBe(pkcs8)
  })

  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  })
  test.each([
    ['APP_ID', undefined],
    ['APP_ID', 'my-app'],
    ['APP_ID', '0'],
    ['PRIVATE_KEY', undefined],
    ['PRIVATE_KEY', ''],
    ['PRIVATE_KEY', 'not a key at all'],
    ['PRIVATE_KEY', '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----'],
    ['PRIVATE_KEY', elliptic.toString()],
    ['PRIVATE_KEY_PATH', '/keys/absent.pem'],
    ['WEBHOOK_SECRET', undefined],
    ['WEBHOOK_SECRET', '   '],
    ['WEBHOOK_SECRET', 'development'],
    ['WEBHOOK_SECRET', 'fifteen-letters'],
    ['WEBHOOK_SECRET_PREVIOUS', 'fifteen-letters'],
    ['WEBHOOK_SECRET_PREVIOUS', 'development'],
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['HOST', 'a b'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'http://localhost'],
    ['CLUSTERS_FILE', '/absent/clusters.yaml'],
    ['ALLOWED_ACCOUNTS', ''],
    ['ALLOWED_ACCOUNTS', 'acme,,beta'],
    ['ALLOWED_ACCOUNTS', 'https://github.com/acme'],
    ['GITHUB_API_URL', 'api.github.com'],
    ['GITHUB_API_URL', 'http://ghe.example.com'],
    ['LOG_LEVEL', 'loud'],
    ['RESYNC_SECONDS', '0'],
    ['PRUNE_SHARE', '101'],
    ['PRUNE_AT_LEAST', '0'],
    ['RESYNC_SECONDS', '1e3'],
    ['TRAIL', 'yes'],
    ['SWEEP_SECONDS', '0'],
    ['JOB_LOCK_MS', '999'],
    ['CACHE_MB', '511'],
    ['RENDER_THREADS', '0'],
    ['RENDER_TIMEOUT_MS', '99'],
    ['RENDER_HEAP_MB', '63.5'],
    ['PUBLIC_URL', 'bailiwick.example.com'],
    ['PUBLIC_URL', 'http://bailiwick.example.com'],
    ['PUBLIC_URL', 'https://bailiwick.example.com/pages'],
    ['PUBLIC_URL', 'https://me@bailiwick.example.com'],
    ['CLIENT_ID', 'a client'],
    ['CLIENT_SECRET', 'a-secret-without-its-id'],
    ['METRICS_TOKEN', 'fifteen-letters'],
    ['METRICS_TOKEN', 'sixteen letters, and spaces'],
  ])('%s = %j stops the start, names the variable and the remedy, keeps the value to itself', (name, value) => {
    const env = environment({ [name]: value, ...(name === 'PRIVATE_KEY_PATH' ? { PRIVATE_KEY: undefined } : {}) })
    let caught: unknown
    try {
      readConfig(env, noFile)
    } catch (error) {
      caught = error
    }
    expect(caught).toMatchObject({
      code: 'config',
      message: expect.stringContaining(name),
      fix: expect.stringMatching(/\w/),
    })
    if (value && value.length > 12) expect(`${inspect(caught)}`.replace(/\n\s+at .*/g, '')).not.toContain(value)
  })

  test('both ways to give the key at once are refused', () => {
    expect(() => readConfig(environment({ PRIVATE_KEY_PATH: 'key.pem' }))).toThrow(/both set/)
  })

  test('secrets are in no log, JSON or spread', () => {
    const config = readConfig(environment({ REDIS_URL: 'redis://:redis-password@127.0.0.1' }))
    const lines: string[] = []
    const log = createLog('info', { write: line => void lines.push(line) })
    log.info({ config }, 'started')
    log.info(config, 'started')
    const shown = [JSON.stringify(config), JSON.stringify({ ...config }), inspect(config), ...lines].join('\n')
    for (const secret of ['PRIVATE KEY', webhookSecret, 'redis-password']) expect(shown).not.toContain(secret)
    expect(lines).toHaveLength(2)
  })

  test('a process of workers needs Redis and no webhook secret', () => {
    const env = environment({ WEBHOOK_SECRET: undefined })
    expect(() => readWorkerConfig(env)).toThrow(/REDIS_URL is missing/)
    const config = readWorkerConfig({ ...env, REDIS_URL: 'redis://redis:6379' })
    expect(config.redisUrl).toBe('redis://redis:6379')
    expect('webhookSecret' in config).toBe(false)
  })
})

describe('the log', () => {
  test('one line per message whatever is in it; errors without what hangs on them', () => {
    const lines: string[] = []
    const log = createLog('info', { write: line => void lines.push(line) })
    const err = Object.assign(new Error('two\nlines'), { request: { headers: { authorization: 'token-123' } } })
    log.error({ err: new AggregateError([err], 'several'), branch: 'x\n{"level":"info"}' }, 'bad\r\nthing')
    expect(lines).toHaveLength(1)
    expect(lines[0]!.trimEnd()).not.toMatch(/[\r\n]/)
    expect(lines[0]).not.toContain('token-123')
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', err: { errors: [{ message: 'two\nlines' }] } })
  })
})
