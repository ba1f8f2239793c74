import type { Context } from 'probot'
import type { JobName, Jobs } from '../queue/queue.ts'

/** Events of one repository; app.yml subscribes to them. */
export type RepositoryEvent =
  | 'check_run'
  | 'check_suite'
  | 'issue_comment'
  | 'issues'
  | 'merge_group'
  | 'pull_request'
  | 'pull_request_review'
  | 'push'

/** Events that concern an installation, whether or not they name a repository of it. */
export type InstallationEvent =
  | 'branch_protection_rule'
  | 'installation'
  | 'installation_repositories'
  | 'repository'
  | 'repository_ruleset'

/** The GitHub events that the App receives. */
export type ReceivedEvent = RepositoryEvent | InstallationEvent

/** What GitHub sends with an event. */
export type Payload<E extends ReceivedEvent> = Context<E>['payload']

/** A job that an event asks for: keys only, nothing of the payload is trusted later on. */
export type AskedJob = {
  [N in JobName]: { readonly name: N; readonly data: Jobs[N]; readonly delayMs?: number }
}[JobName]

/** What one event means: the jobs that it asks for. Decides whether, never what. `us`: our App's id. */
export interface EventJobs<E extends ReceivedEvent> {
  readonly event: E
  readonly jobs: (payload: Payload<E>, place: PlaceOf<E>, us: number) => readonly AskedJob[]
}

type PlaceOf<E extends ReceivedEvent> = E extends RepositoryEvent ? RepositoryTarget : InstallationPlace

/** The installation that an event concerns. */
export interface InstallationPlace {
  readonly installation: number
}

/** Where an event happened. */
export interface RepositoryTarget extends InstallationPlace {
  readonly owner: string
  readonly repo: string
}
