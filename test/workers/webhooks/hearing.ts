import type { JobName, Jobs, Queue } from '../../../src/receive/queue.ts'
import { registerWebhooks } from '../../../src/receive/register.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

type Listener = (context: { payload: unknown }) => Promise<void>

/** Our App's id in these tests. */
export const US = 4711
const repository = { name: 'fleet', owner: { login: 'Acme' } }
export const place = { installation: 7, owner: 'Acme', repo: 'fleet' }
export const ada = { login: 'ada', type: 'User' }
export const bot = { login: 'bailiwick[bot]', type: 'Bot' }
/** What every event of a repository has. */
export const base = { repository, installation: { id: 7 }, sender: ada }
export const SHA = 'a'.repeat(40)

/** The handlers of all events, and the jobs that they asked for. */
export function hearing(allowedAccounts?: readonly string[]) {
  const listeners = new Map<string, Listener>()
  const jobs: [string, unknown][] = []
  const queue: Pick<Queue, 'add'> = {
    add: async <N extends JobName>(name: N, data: Jobs[N]) => void jobs.push([name, data]),
  }
  const on = (event: string, listener: Listener): void => void listeners.set(event, listener)
  registerWebhooks({ on: on as never }, { queue, appId: US, allowedAccounts, log: silentLog })
  const send = (event: string, payload: object): Promise<void> => listeners.get(event)!({ payload })
  return { send, jobs, events: [...listeners.keys()] }
}

/** Name and data of each job that one event asks for. */
export async function jobsOf(event: string, payload: object, allowed?: readonly string[]): Promise<unknown[]> {
  const { send, jobs } = hearing(allowed)
  await send(event, payload)
  return jobs
}
