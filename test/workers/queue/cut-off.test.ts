import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog, logAbout } from '../../../src/process/log.ts'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { hasRedis, startRedis, type TestRedis } from './start-redis.ts'
import { until } from './until.ts'

const JOB = { installation: 7, owner: 'acme', repo: 'fleet', pull: 3 }
const DELIVERY = 'd0000000-1111-2222-3333-444444444444'

/** Stops a queue while its job runs, and returns what the log has about that job. */
async function cutOff(redisUrl: string | undefined) {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const log = createLog('info', stream)
  const queue = openQueue({ redisUrl, log, prefix: 'cut-off' })
  const started = Promise.withResolvers<void>()
  queue.work('validate-pull-request', async (_, { signal }) => {
    log.info('at work')
    started.resolve()
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const watch = Promise.withResolvers<void>()
  await logAbout({ delivery: DELIVERY }, async () => {
    await queue.add('validate-pull-request', JOB)
    // left running, as a watch of a cluster is
    setTimeout(() => {
      log.info('watched')
      watch.resolve()
    }, 50)
  })
  await Promise.all([started.promise, watch.promise])
  await queue.close(50)
  await until(() => lines.some(({ msg }) => msg === 'job attempt failed'))
  return lines
}

describe.each(['in this process', ...(hasRedis ? ['on Redis'] : [])])('a job that a stop cuts off, %s', where => {
  let redis: TestRedis | undefined
  beforeAll(async () => {
    redis = where === 'on Redis' ? await startRedis() : undefined
  })
  afterAll(() => redis?.stop())

  test('says so, and every line of it names job, repository, pull request, attempt and webhook', async () => {
    const lines = await cutOff(redis?.url)
    const about = {
      ...{ job: 'validate-pull-request', repository: 'acme/fleet', pull: 3, attempt: 1 },
      ...{ delivery: DELIVERY, key: expect.stringMatching(/^[0-9a-f]{40}$/) },
    }
    const of = (start: string) => lines.filter(({ msg }) => String(msg).startsWith(start))
    for (const start of ['at work', 'job cut off, because this process stops', 'job attempt failed'])
      expect(of(start), start).toEqual([expect.objectContaining(about)])
    expect(of('watched')).toEqual([expect.not.objectContaining({ delivery: DELIVERY })])
  })
})
