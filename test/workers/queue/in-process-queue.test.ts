import { expect, test } from 'vitest'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { queueContract } from './contract.ts'
import { limitsContract } from './limits-contract.ts'

const open = () => openQueue({ log: silentLog, retry: { attempts: 3, backoffMs: 20 } })
queueContract('in-process queue', open)
limitsContract('in-process queue', open)

test('decisions that wait are written before the process ends, those of its last jobs, too', async () => {
  const queue = open()
  const written: string[] = []
  const place = { installation: 1, owner: 'acme' }
  queue.work('write-trail', async ({ repo }) => void written.push(repo))
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  queue.work('sweep', async () => {
    started.resolve()
    await release.promise
    await queue.add('write-trail', { ...place, repo: 'of-the-last-job' }, { delayMs: 60_000 })
  })
  await queue.add('write-trail', { ...place, repo: 'waiting' }, { delayMs: 60_000 })
  await queue.add('sweep', {})
  await started.promise
  const closed = queue.close(10_000)
  release.resolve()
  await closed
  expect(written).toEqual(['waiting', 'of-the-last-job'])
})
