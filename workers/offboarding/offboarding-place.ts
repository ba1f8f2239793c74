import { hash } from 'node:crypto'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { OffboardRecord } from '../../src/offboard/offboard-record.ts'
import type { OffboardRequest } from '../../src/offboard/request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/say-verdict.ts'

/** Branches from which tenants are offboarded, and moved to another cluster; src/webhooks/pull-request.ts names them too. */
const [OFFBOARD_BRANCH, MOVE_BRANCH] = ['bailiwick/offboard-', 'bailiwick/move-'] as const

export const isOffboarding = (branch: string): boolean =>
  branch.startsWith(OFFBOARD_BRANCH) || branch.startsWith(MOVE_BRANCH)

/** The branch of one of the changes; another set of clusters is another offboarding. */
export function offboardingBranch({ tenant, clusters, to }: OffboardRequest, stage: string): string {
  const id = hash('sha256', JSON.stringify(to === undefined ? [tenant, clusters] : [tenant, clusters, to])).slice(0, 8)
  return `${to === undefined ? OFFBOARD_BRANCH : MOVE_BRANCH}${tenant}-${id}-${stage}`
}

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
export type OffboardAsk = Pick<OffboardRecord, 'tenant' | 'clusters' | 'to' | 'by' | 'comment' | 'issue' | 'at'>
