import type { Octokit } from '../../src/github/client/octokit.ts'
import type { OffboardRecord } from '../../src/offboard/offboard-record.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/say-verdict.ts'

/** Branches from which tenants are offboarded; src/webhooks/pull-request.ts names them too. */
export const OFFBOARD_BRANCH = 'bailiwick/offboard-'

/** A fleet that a tenant leaves. */
export interface OffboardingPlace {
  readonly context: WorkerContext
  /** Of the fleet, for writing. */
  readonly place: PublishTarget
  readonly reader: Octokit
  readonly installation: Installation
  readonly fleet: ReadableRepository
  readonly attempt: Attempt
}

/** Who asked for an offboarding, and where. */
export type OffboardAsk = Pick<OffboardRecord, 'tenant' | 'clusters' | 'by' | 'comment' | 'issue' | 'at'>
