import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue as BullQueue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import type { OpenQueue } from '../../../src/receive/queue.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { pull, queueContract } from './contract.ts'
import { limitsContract } from './limits-contract.ts'
import { hasRedis, startRedis, type TestRedis } from './start-redis.ts'
import { until } from './until.ts'

const locks = { lockMs: 1_000, stalledMs: 500 }

describe.skipIf(!hasRedis)('on a real Redis', () => {
  let redis: TestRedis
  let count = 0
  const open = (prefix = `test-${++count}`): OpenQueue =>
    openQueue({ redisUrl: redis.url, prefix, log: silentLog, retry: { attempts: 3, backoffMs: 20 }, locks })

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  queueContract('BullMQ queue', () => open())
  limitsContract('BullMQ queue', () => open())

  test('two processes share the work: no key runs twice at once', async () => {
    const [one, two] = [open('shared'), open('shared')]
    let now = 0
    let most = 0
    let runs = 0
    const handler = async (): Promise<void> => {
      most = Math.max(most, ++now)
      await new Promise(resolve => setTimeout(resolve, 50))
      runs++
      now--
    }
    one.work('validate-pull-request', handler)
    two.work('validate-pull-request', handler)
    for (let i = 0; i < 20; i++) await one.add('validate-pull-request', pull(1))
    await one.idle()
    expect(most).toBe(1)
    expect(runs).toBeGreaterThanOrEqual(2)
    await Promise.all([one.close(), two.close()])
  })

  test('two processes: one at a time is inside with a key, and who stays long is waited for', async () => {
    const [one, two] = [open('alone'), open('alone')]
    let left = false
    const entered = Promise.withResolvers<void>()
    const first = one.withLock('head', async () => {
      entered.resolve()
      await sleep(4_000) // longer than a lock that is not renewed
      left = true
    })
    await entered.promise
    expect(await two.withLock('head', async entry => [entry, left])).toEqual([2, true])
    expect(await one.entries('head')).toBe(2)
    await first
    await Promise.all([one.close(), two.close()])
  })

  test('who died inside keeps the next one out for seconds only', async () => {
    const [dead, next] = [open('died'), open('died')]
    const stuck = dead.withLock('head', () => new Promise(() => undefined))
    await until(async () => (await next.entries('head')) === 1)
    await dead.close(0)
    const start = performance.now()
    expect(await next.withLock('head', async entry => entry)).toBe(2)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(stuck).toBeInstanceOf(Promise)
    await next.close()
  })

  test('a repeat is carried on by another process, once per interval', async () => {
    const first = open('repeat')
    await first.repeat('reconcile', { cluster: 'staging' }, 300)
    await first.close()
    const second = open('repeat')
    let runs = 0
    second.work('reconcile', async () => void runs++, { cluster: 'staging' })
    await second.repeat('reconcile', { cluster: 'production' }, 60_000)
    await until(() => runs >= 3)
    await second.close()
  })

  test('a worker that is killed in the middle of a job: another one does the job', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-kill-'))
    const flag = join(folder, 'started')
    const queue = open('killed')
    await queue.add('validate-pull-request', pull(1))
    const worker = spawn(process.execPath, ['test/workers/queue/stuck-worker.ts', redis.url, 'killed', flag])
    await until(() => existsSync(flag))
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    const seen: unknown[] = []
    queue.work('validate-pull-request', async data => void seen.push(data))
    await queue.idle()
    expect(seen).toEqual([pull(1)])
    await queue.close()
    rmSync(folder, { recursive: true })
  })

  test('a job that workers die of is dead after a few of them, and somebody is told', async () => {
    const adder = open('poison')
    await adder.add('validate-pull-request', pull(1))
    for (let deaths = 0; deaths < 4; deaths++) {
      const worker = spawn(process.execPath, ['test/workers/queue/dying-worker.ts', redis.url, 'poison'])
      await once(worker, 'exit')
    }
    const survivor = open('poison')
    const dead: unknown[] = []
    let runs = 0
    survivor.work('validate-pull-request', async () => void runs++, { dead: async data => void dead.push(data) })
    await until(() => dead.length === 1)
    await survivor.idle()
    expect([runs, dead]).toEqual([0, [pull(1)]])
    await adder.add('validate-pull-request', pull(1))
    await until(() => runs === 1)
  }, 60_000)

  test('a job that lost its lock is told to stop: another worker may have it', async () => {
    const queue = open('unlocked')
    let reason: unknown
    queue.work('validate-pull-request', async (_, { number, signal }) => {
      if (number > 1 || reason !== undefined) return
      const client = new Redis(redis.url)
      const [lock = ''] = await client.keys('unlocked:*:lock')
      await client.del(lock)
      client.disconnect()
      await once(signal, 'abort')
      reason = signal.reason
    })
    await queue.add('validate-pull-request', pull(1))
    await until(() => reason !== undefined)
    expect(reason).toMatchObject({ message: 'the lock of this job was lost' })
    await queue.idle()
  })

  test('a job that somebody else wrote into Redis does not reach the handler', async () => {
    const queue = open('forged')
    const seen: unknown[] = []
    const forged = new BullQueue('validate-push', { connection: { url: redis.url }, prefix: 'forged' })
    await forged.add('validate-push', { ...pull(1), branch: 'main', sha: '--upload-pack=x' })
    await forged.add('validate-push', { ...pull(1), branch: 'main', sha: 'a'.repeat(40), extra: 'x' })
    queue.work('validate-push', async data => void seen.push(data))
    await queue.idle()
    const { pull: _, ...place } = pull(1)
    await until(() => seen.length === 1)
    expect(seen).toEqual([{ ...place, branch: 'main', sha: 'a'.repeat(40) }])
    await forged.close()
  })

  test('a Redis that was emptied, even during a job, takes and runs later jobs', async () => {
    const queue = open('flushed')
    const seen: number[] = []
    const release = Promise.withResolvers<void>()
    queue.work('validate-pull-request', async data => {
      seen.push(data.pull)
      if (data.pull === 1) await release.promise
    })
    let repeats = 0
    queue.work('reconcile', async () => void repeats++, { cluster: 'staging' })
    await queue.repeat('reconcile', { cluster: 'staging' }, 300)
    await queue.add('validate-pull-request', pull(1))
    await until(() => seen.length === 1)
    await redis.flush()
    release.resolve()
    await queue.add('validate-pull-request', pull(2))
    await queue.add('validate-pull-request', pull(1))
    await until(() => seen.includes(2) && seen.filter(number => number === 1).length === 2)
    const before = repeats
    await until(() => repeats > before + 1)
    await queue.close()
  })
})

describe.skipIf(!hasRedis)('without Redis', () => {
  test('add rejects within its time limit, works again when Redis is back, and close returns', async () => {
    const redis = await startRedis(['--appendonly', 'yes'])
    const queue = openQueue({ redisUrl: redis.url, log: silentLog, retry: { attempts: 3, backoffMs: 20 }, locks })
    const seen: number[] = []
    queue.work('validate-pull-request', async data => void seen.push(data.pull))
    await queue.add('validate-pull-request', pull(1))
    await queue.idle()
    await redis.kill()
    const start = performance.now()
    await expect(queue.add('validate-pull-request', pull(2))).rejects.toMatchObject({ code: 'queue-unavailable' })
    expect(performance.now() - start).toBeLessThan(3_000)
    await expect(queue.ping()).rejects.toMatchObject({ code: 'queue-unavailable' })
    await redis.restart()
    await until(() =>
      queue.add('validate-pull-request', pull(3)).then(
        () => true,
        () => false,
      ),
    )
    await until(() => seen.includes(3))
    await redis.kill()
    await queue.close(100)
    await redis.stop()
  })

  test('a Redis that takes the connection and never answers', async () => {
    const silent = createServer(socket => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const queue = openQueue({ redisUrl: `redis://127.0.0.1:${port}`, log: silentLog })
    const adding = queue.add('validate-pull-request', pull(1))
    await expect(adding).rejects.toThrow(/did not answer within 2000 ms/)
    expect(await queue.entries('head'), 'what must be said is said all the same').toBeNaN()
    await queue.close(0)
    silent.close()
  })

  test('a Redis that never was there is told as well', async () => {
    const queue = openQueue({ redisUrl: 'redis://127.0.0.1:1', log: silentLog })
    await expect(queue.add('validate-pull-request', pull(1))).rejects.toMatchObject({ code: 'queue-unavailable' })
    await queue.close(0)
  })
})
