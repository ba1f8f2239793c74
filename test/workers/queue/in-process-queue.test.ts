import { openQueue } from '../../../src/receive/bullmq-queue.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { queueContract } from './contract.ts'
import { limitsContract } from './limits-contract.ts'

const open = () => openQueue({ log: silentLog, retry: { attempts: 3, backoffMs: 20 } })
queueContract('in-process queue', open)
limitsContract('in-process queue', open)
