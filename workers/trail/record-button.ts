import { hash } from 'node:crypto'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { DecisionKind } from '../../src/trail/trail-entry.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { recordDecision } from './record-decision.ts'

/** A pressed button of a check run: its decision kind and the person. */
interface Press {
  readonly kind: DecisionKind
  readonly check: number
  readonly login: string
  /** Addresses of the fleets that it affects. */
  readonly fleets: readonly string[]
}

/** Records a pressed button in the trail of each fleet that it affects. */
export async function recordButton(
  context: WorkerContext,
  { installation, repository }: OpenedRepository,
  { number: pull, head: { sha: commit } }: PullRequest,
  { kind, check, login: who, fleets }: Press,
): Promise<void> {
  const id = `button ${kind} ${check} ${commit} ${who}`
  const about = { repository: `${repository.owner}/${repository.name}`, commit, pull }
  for (const url of fleets) {
    const decision = { ...about, id, kind, who, result: 'done', revisions: [], digest: hash('sha256', id) }
    await recordDecision(context, { installation: installation.id, url }, decision, { once: true })
  }
}
