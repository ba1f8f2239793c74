import type { Probot } from 'probot'
import { isAllowedAccount } from '../process/environment.ts'
import type { Log } from '../process/log.ts'
import { aboutJob, type JobName, type Jobs, type Queue } from './queue.ts'
import {
  type AskedJob,
  type EventJobs,
  installationEvents,
  type Payload,
  type ReceivedEvent,
  repositoryEvents,
} from './received-events.ts'

/** What the handlers need: where jobs go, whose events count, and which App is ours. */
interface Intake {
  readonly queue: Pick<Queue, 'add'>
  readonly appId: number
  readonly allowedAccounts: readonly string[] | undefined
  readonly log: Log
}

/** Handles the App's events. A handler resolves when its jobs are stored and rejects when one was not. */
export function registerWebhooks(app: Pick<Probot, 'on'>, intake: Intake): void {
  const listen = (events: Readonly<Record<string, unknown>>, isWhole: boolean): void => {
    for (const [name, jobs] of Object.entries(events)) {
      // Probot types its handlers by the name of the event, which here is any of ours
      const event = { name, jobs: jobs as EventJobs<ReceivedEvent>, isWhole }
      const handler = ({ payload }: { payload: Payload<ReceivedEvent> }) => hear(event, payload, intake)
      app.on(name as ReceivedEvent, handler as unknown as Parameters<typeof app.on>[1])
    }
  }
  listen(repositoryEvents, false)
  listen(installationEvents, true)
}

interface Heard {
  readonly name: string
  readonly jobs: EventJobs<ReceivedEvent>
  /** It concerns an installation, whether or not it names a repository. */
  readonly isWhole: boolean
}

async function hear({ name: event, jobs, isWhole }: Heard, payload: Payload<ReceivedEvent>, intake: Intake) {
  const found = placeOf(payload as Placed)
  if (found === undefined || (found.repo === undefined && !isWhole)) {
    return intake.log.warn({ event }, 'event ignored: it has no repository or installation')
  }
  const { account, installation, repo } = found
  const place = isWhole ? { installation } : { installation, owner: account, repo }
  const asked = jobs(payload, place as Parameters<typeof jobs>[1], intake.appId)
  if (asked.length === 0) return
  if (!isAllowedAccount(intake.allowedAccounts, account)) {
    return intake.log.warn({ event, account }, 'event ignored: the account is not in ALLOWED_ACCOUNTS')
  }
  for (const one of asked) await store(one, intake)
}

async function store<N extends JobName>(asked: AskedJob & { name: N }, intake: Intake): Promise<void> {
  const options = asked.delayMs === undefined ? {} : { delayMs: asked.delayMs }
  await intake.queue.add(asked.name, asked.data as Jobs[N], options)
  intake.log.info(aboutJob(asked.name, asked.data, { number: 1 }), 'job enqueued')
}

/** The parts of a payload that say where an event happened; which of them are there depends on the event. */
interface Placed {
  readonly installation?: { readonly id: number; readonly account?: { readonly login?: string } | null } | undefined
  readonly organization?: { readonly login: string } | undefined
  readonly repository?: { readonly name: string; readonly owner: { readonly login?: string } | null } | undefined
}

/** Where an event happened, and whose account it is. */
interface FoundPlace {
  readonly installation: number
  readonly account: string
  /** Absent where the event names no repository. */
  readonly repo: string | undefined
}

/** Undefined where the event belongs to no installation or to no account: the App does not receive such events. */
function placeOf({ installation, organization, repository }: Placed): FoundPlace | undefined {
  const account = repository?.owner?.login ?? installation?.account?.login ?? organization?.login
  if (installation === undefined || account === undefined) return undefined
  return { installation: installation.id, account, repo: repository?.name }
}
