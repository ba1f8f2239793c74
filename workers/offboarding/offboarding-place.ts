import { hash } from 'node:crypto'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { OffboardRecord } from '../../src/offboard/offboard-record.ts'
import type { OffboardRequest } from '../../src/offboard/request.ts'
import type { Attempt } from '../../src/queue/queue.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** Branches of these changes by command; src/webhooks/pull-request.ts lists them too. */
const BRANCHES = {
  offboard: 'bailiwick/offboard-',
  move: 'bailiwick/move-',
  rename: 'bailiwick/rename-',
  handOver: 'bailiwick/hand-over-',
} as const

export const isOffboarding = (branch: string): boolean =>
  Object.values(BRANCHES).some(prefix => branch.startsWith(prefix))

/** The branch of one of the changes; another set of clusters is another offboarding. */
export function offboardingBranch(request: OffboardRequest, stage: string): string {
  const { tenant, clusters, to, name, namespace } = request
  const what = [to, name, namespace].filter(one => one !== undefined)
  const id = hash('sha256', JSON.stringify([tenant, clusters, ...what])).slice(0, 8)
  return `${BRANCHES[commandOf(request)]}${tenant}-${id}-${stage}`
}

function commandOf({ to, name, namespace }: OffboardRequest): keyof typeof BRANCHES {
  if (name !== undefined) return 'rename'
  if (namespace !== undefined) return 'handOver'
  return to === undefined ? 'offboard' : 'move'
}

/** The request without the person who made it. */
export function requestOf({ tenant, clusters, to, name, namespace }: OffboardRequest): OffboardRequest {
  return {
    ...{ tenant, clusters },
    ...(to === undefined ? {} : { to }),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  }
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
export type OffboardAsk = OffboardRequest & Pick<OffboardRecord, 'by' | 'comment' | 'issue' | 'at'>
