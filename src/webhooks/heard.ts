import type { Context } from 'probot'
import type { JobName, Jobs } from '../queue/queue.ts'

/** The events of GitHub that we hear; app.yml subscribes to those that an App must ask for. */
export type HeardEvent = 'pull_request' | 'push' | 'issue_comment'

/** What GitHub sends with an event. */
export type Payload<E extends HeardEvent> = Context<E>['payload']

/** A job that an event asks for: keys only, nothing of the payload is trusted later on. */
export type AskedJob = {
  [N in JobName]: { readonly name: N; readonly data: Jobs[N]; readonly delayMs?: number }
}[JobName]

/** What one event means: the jobs that it asks for. Decides whether, never what. */
export interface Heard<E extends HeardEvent> {
  readonly event: E
  readonly jobs: (payload: Payload<E>, place: Place) => readonly AskedJob[]
}

/** Where an event happened. */
export interface Place {
  readonly installation: number
  readonly owner: string
  readonly repo: string
}
