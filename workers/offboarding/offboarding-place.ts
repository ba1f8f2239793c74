import { hash } from 'node:crypto'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { OffboardRecord } from '../../src/offboard/offboard-record.ts'
import type { OffboardRequest } from '../../src/offboard/request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** The branches of these changes; src/webhooks/pull-request.ts lists it too. */
const BRANCH = 'bailiwick/offboard-'

export const isOffboarding = (branch: string): boolean => branch.startsWith(BRANCH)

/** The branch of one of the changes; another set of clusters is another offboarding. */
export function offboardingBranch({ tenant, clusters }: OffboardRequest, stage: string): string {
  const id = hash('sha256', JSON.stringify([tenant, clusters])).slice(0, 8)
  return `${BRANCH}${tenant}-${id}-${stage}`
}

/** The request without the person who made it. */
export const requestOf = ({ tenant, clusters }: OffboardRequest): OffboardRequest => ({ tenant, clusters })

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
export type OffboardAsk = OffboardRequest & Pick<OffboardRecord, 'by' | 'comment' | 'issue' | 'at'>
