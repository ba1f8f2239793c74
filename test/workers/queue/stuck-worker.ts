import { writeFileSync } from 'node:fs'
import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

// A process for tests: takes a job, says so by writing the file, and never finishes.
const [redisUrl, prefix, flag = ''] = process.argv.slice(2)
const queue = openQueue({ redisUrl, prefix, log: silentLog, locks: { lockMs: 1_000, stalledMs: 500 } })
queue.work('validate-pull-request', async () => {
  writeFileSync(flag, '')
  await new Promise(() => undefined)
})
