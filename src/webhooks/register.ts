import type { Probot } from 'probot'
import { isAllowedAccount } from '../process/allowed-account.ts'
import type { Log } from '../process/log.ts'
import type { JobName, Jobs, Queue } from '../queue/queue.ts'
import type { AskedJob, Heard, HeardEvent, Payload, Place } from './heard.ts'
import { issueComment } from './issue-comment.ts'
import { pullRequest } from './pull-request.ts'
import { push } from './push.ts'

/** What the handlers need: where jobs go, and whose events count. */
export interface Intake {
  readonly queue: Pick<Queue, 'add'>
  readonly allowedAccounts: readonly string[] | undefined
  readonly log: Log
}

/** Every event that we hear. A new one is a file beside this, its name in `HeardEvent`, a line here and in app.yml. */
export const heard: readonly { readonly [E in HeardEvent]: Heard<E> }[HeardEvent][] = [pullRequest, push, issueComment]

/** Makes the App hear its events. A handler resolves when its jobs are stored and rejects when one was not. */
export function registerWebhooks(app: Pick<Probot, 'on'>, intake: Intake): void {
  for (const one of heard) listen(app, one, intake)
}

function listen<E extends HeardEvent>(app: Pick<Probot, 'on'>, event: Heard<E>, intake: Intake): void {
  // Probot types its handlers by the name of the event, which here is any of ours
  const handler = ({ payload }: { payload: Payload<E> }) => hear(event, payload, intake)
  app.on(event.event, handler as unknown as Parameters<typeof app.on>[1])
}

async function hear<E extends HeardEvent>(event: Heard<E>, payload: Payload<E>, intake: Intake): Promise<void> {
  const place = placeOf(payload)
  if (place === undefined) {
    return intake.log.warn({ event: event.event }, 'ignored an event without repository or installation')
  }
  const asked = event.jobs(payload, place)
  if (asked.length === 0) return
  if (!isAllowedAccount(intake.allowedAccounts, place.owner)) {
    return intake.log.warn({ event: event.event, ...place }, 'ignored an event: the account is not in ALLOWED_ACCOUNTS')
  }
  for (const one of asked) await store(one, intake)
}

async function store<N extends JobName>(asked: AskedJob & { name: N }, intake: Intake): Promise<void> {
  const options = asked.delayMs === undefined ? {} : { delayMs: asked.delayMs }
  await intake.queue.add(asked.name, asked.data as Jobs[N], options)
  intake.log.info({ job: asked.name, ...asked.data }, 'stored a job')
}

interface Placed {
  readonly installation?: { readonly id: number } | undefined
  readonly repository?: { readonly name: string; readonly owner: { readonly login?: string } | null }
}

function placeOf(payload: Placed): Place | undefined {
  const owner = payload.repository?.owner?.login
  if (payload.installation === undefined || payload.repository === undefined || owner === undefined) return undefined
  return { installation: payload.installation.id, owner, repo: payload.repository.name }
}
