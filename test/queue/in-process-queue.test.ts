import { openQueue } from '../../src/queue/open-queue.ts'
import { silentLog } from '../silent-log.ts'
import { queueContract } from './contract.ts'

queueContract('in-process queue', () => openQueue({ log: silentLog, retry: { attempts: 3, backoffMs: 20 } }))
