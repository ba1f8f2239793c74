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
export const heard = [pullRequest, push, issueComment] as const

/** Makes the App hear its events. A handler resolves when its job is stored and rejects when it was not. */
export function registerWebhooks(app: Pick<Probot, 'on'>, intake: Intake): void {
  app.on('pull_request', ({ payload }) => hear(pullRequest, payload, intake))
  app.on('push', ({ payload }) => hear(push, payload, intake))
  app.on('issue_comment', ({ payload }) => hear(issueComment, payload, intake))
}

async function hear<E extends HeardEvent>(event: Heard<E>, payload: Payload<E>, intake: Intake): Promise<void> {
  const place = placeOf(payload)
  if (place === undefined) {
    return intake.log.warn({ event: event.event }, 'ignored an event without repository or installation')
  }
  const asked = event.job(payload, place)
  if (asked === undefined) return
  if (!isAllowedAccount(intake.allowedAccounts, place.owner)) {
    return intake.log.warn({ event: event.event, ...place }, 'ignored an event: the account is not in ALLOWED_ACCOUNTS')
  }
  await store(asked, intake)
}

async function store<N extends JobName>(asked: AskedJob & { name: N }, intake: Intake): Promise<void> {
  await intake.queue.add(asked.name, asked.data as Jobs[N])
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
