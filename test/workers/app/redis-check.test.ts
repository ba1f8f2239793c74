import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BailiwickError } from '../../../src/base/errors.ts'
import { openRedisCheck } from '../../../src/process/redis.ts'
import type { FakeGitHub } from '../../../tools/github/start.ts'
import { environment, privateKey } from '../../surface/config/environment-of.ts'
import { freePort, hasRedis, startRedis, type TestRedis } from '../queue/start-redis.ts'
import { until } from '../queue/until.ts'
import { githubOfStart } from './github-of-start.ts'
import { type Program, runProgram, untilReady } from './run-program.ts'

/** Those of Redis 7: https://redis.io/docs/latest/develop/reference/eviction/ */
const EVICTS_JOBS = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random']
const EVICTS_LOCKS = ['volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl']

describe.skipIf(!hasRedis)('Redis at a start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-redis-check-'))
  const programs: Program[] = []
  let github: FakeGitHub
  let settings: Readonly<Record<string, string>>
  let redis: TestRedis
  const config = (name: string, value: string) => set(redis.url, name, value)
  beforeAll(async () => {
    ;({ github, settings } = await githubOfStart())
    redis = await startRedis()
  })
  afterAll(async () => {
    await Promise.all(programs.map(program => program.end()))
    await Promise.all([github.close(), redis.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (file: string, changes: Record<string, string> = {}) => {
    const port = await freePort()
    const env = { CACHE_DIR: folder, PORT: `${port}`, REDIS_URL: redis.url, ...settings, ...changes }
    const program = runProgram(['node', file], environment(env))
    programs.push(program)
    return { program, url: `http://127.0.0.1:${port}` }
  }
  const FILES = ['src/index.ts', 'workers/index.ts']

  test.each(EVICTS_JOBS)('%s ends it with the remedy', async policy => {
    await config('maxmemory-policy', policy)
    for (const file of FILES) {
      const { program } = await start(file)
      expect(await program.exit).toBe(2)
      expect(program.complained()).toBe(
        `error[config]: REDIS_URL: the eviction policy of Redis is ${policy}: when memory is full, it deletes jobs, and their verdicts are never published. Set maxmemory-policy to noeviction.\n`,
      )
    }
  })

  test.each(EVICTS_LOCKS)('%s keeps jobs: it starts with a warning', async policy => {
    await config('maxmemory-policy', policy)
    const { program, url } = await start('src/index.ts')
    await untilReady(`${url}/readyz`, program)
    await until(() =>
      program.said().includes(`the eviction policy of Redis is ${policy}: when memory is full, it deletes locks`),
    )
    expect(program.said()).toMatch(/"level":"warn".*"fix":"Set maxmemory-policy to noeviction\."/)
    await program.end()
  })

  test('a Redis that deletes jobs when it is full, with a policy that it does so by', async () => {
    await config('maxmemory-policy', 'allkeys-lru')
    const client = new Redis(redis.url)
    await client.set('bull:job', 'kept', 'PX', 600_000)
    await client.hset('bull:hash', { data: 'x' })
    const { used_memory: used } = Object.fromEntries(
      (await client.info('memory')).split('\r\n').map(line => line.split(':')),
    )
    await config('maxmemory', `${Number(used) + 1_000_000}`)
    for (let i = 0; i < 40; i++) await client.set(`filler-${i}`, 'x'.repeat(100_000))
    expect(await client.exists('bull:hash')).toBe(0)
    await config('maxmemory', '0')
    await client.flushall()
    client.disconnect()
  })

  test('a wrong password and a key of another App are said together, and neither value', async () => {
    await config('maxmemory-policy', 'noeviction')
    const protectedRedis = await startRedis()
    await set(protectedRedis.url, 'requirepass', 'correct')
    const REDIS_URL = protectedRedis.url.replace('redis://', 'redis://:hunter2@')
    for (const file of FILES) {
      const { program } = await start(file, { REDIS_URL, PRIVATE_KEY: privateKey })
      expect(await program.exit).toBe(2)
      expect(program.complained().split('\n')).toEqual([
        expect.stringMatching(
          /^error\[config\]: APP_ID and PRIVATE_KEY: GitHub does not accept this key for the App \d+\. Open /,
        ),
        'error[config]: REDIS_URL: Redis does not accept the user or password of REDIS_URL. Write the user and password of that Redis into REDIS_URL: redis://USER:PASSWORD@HOST:PORT.',
        '',
      ])
      expect(program.said() + program.complained()).not.toContain('hunter2')
    }
    await protectedRedis.stop()
  })

  test('a user who may not run INFO: unknown, and it starts', async () => {
    const client = new Redis(redis.url)
    await client.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-info')
    client.disconnect()
    const check = await openCheck(redis.url.replace('redis://', 'redis://limited:secret@')).opened
    await check.usable()
  })

  test.each([
    ['6.0.15', true],
    ['6.1.99', true],
    ['5.9.15', true],
    ['6.2.00', false],
    ['9.0.15', false],
  ])('version %s is refused: %s', async (version, isRefused) => {
    await config('maxmemory-policy', 'noeviction')
    const proxy = await proxyOfVersion(redis, version)
    const { opened } = openCheck(proxy.url)
    if (isRefused) {
      await expect(opened).rejects.toMatchObject({
        ...{ code: 'config', message: `REDIS_URL: Redis ${version} is too old` },
        fix: 'Use Redis 6.2 or newer, or Valkey.',
      })
    } else await (await opened).usable()
    proxy.close()
  })

  const openCheck = (url: string, answerCountsMs = 0) => {
    const refusals: BailiwickError[] = []
    const log = { info: () => {}, warn: () => {} }
    const opened = openRedisCheck(url, { log, retryMs: 5, answerCountsMs, onRefused: error => refusals.push(error) })
    return { opened, refusals }
  }

  test('a Redis that answers after the start: refused once, or usable', async () => {
    const [one, other] = [await startRedis(['--maxmemory-policy', 'allkeys-lfu']), await startRedis()]
    await Promise.all([one.kill(), other.kill()])
    const [bad, good] = [openCheck(one.url), openCheck(other.url)]
    const [refused, accepted] = await Promise.all([bad.opened, good.opened])
    await expect(refused.usable()).rejects.toMatchObject({ code: 'queue-unavailable' })
    await expect(accepted.usable()).rejects.toMatchObject({ code: 'queue-unavailable' })
    await Promise.all([one.restart(), other.restart()])
    await until(() => bad.refusals.length > 0)
    expect(bad.refusals).toEqual([
      expect.objectContaining({ code: 'config', fix: 'Set maxmemory-policy to noeviction.' }),
    ])
    await until(() =>
      accepted.usable().then(
        () => true,
        () => false,
      ),
    )
    expect(good.refusals).toEqual([])
    await Promise.all([one.stop(), other.stop()])
  })

  test('a policy that changes while it runs: not ready, and ready again', async () => {
    await config('maxmemory-policy', 'noeviction')
    const { opened, refusals } = openCheck(redis.url)
    const check = await opened
    await check.usable()
    await config('maxmemory-policy', 'allkeys-random')
    await expect(check.usable()).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('allkeys-random'),
    })
    await config('maxmemory-policy', 'noeviction')
    await check.usable()
    expect(refusals).toEqual([])
  })
})

async function set(url: string, name: string, value: string): Promise<void> {
  const client = new Redis(url)
  await client.config('SET', name, value)
  client.disconnect()
}

/** The same Redis, whose INFO names another version of as many characters. */
async function proxyOfVersion({ port }: TestRedis, version: string): Promise<{ url: string; close(): void }> {
  const client = new Redis(port)
  const [, real = ''] = /redis_version:(.*)\r/.exec(await client.info('server')) ?? []
  client.disconnect()
  const told = version.slice(0, real.length).padEnd(real.length, '0')
  expect(told).toBe(version)
  const server: Server = createServer(near => {
    const far = connect(port, '127.0.0.1')
    near.pipe(far)
    far.on('data', chunk =>
      near.write(chunk.toString('latin1').replace(`redis_version:${real}`, `redis_version:${told}`), 'latin1'),
    )
    for (const [a, b] of [
      [near, far],
      [far, near],
    ] as const)
      a.on('error', () => b.destroy()).on('close', () => b.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  return { url: `redis://127.0.0.1:${address.port}`, close: () => server.close() }
}
