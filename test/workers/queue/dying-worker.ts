import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

// A process for tests: dies of the first job that it takes, as of a segmentation fault or an OOM kill.
const [redisUrl, prefix] = process.argv.slice(2)
const queue = openQueue({ redisUrl, prefix, log: silentLog, locks: { lockMs: 1_000, stalledMs: 300 } })
queue.work('validate-pull-request', async () => void process.kill(process.pid, 'SIGKILL'))
