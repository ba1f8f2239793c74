import {
  APPROVE_PRUNE_USAGE,
  PRUNE_RUN,
  parseApprovePrune,
  pruneRecord,
  readPruneRecord,
  withDigests,
} from '../../src/command/prune-record.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { decidesHere, fleetsHere } from './fleets-here.ts'
import type { Asking, Verb } from './verb.ts'

/**
 * Lets the worker delete what it holds back because it is much at once: exactly the sets of objects that are named by their
 * digests. The record is a check run of our App on the commit that is applied now, so nobody else can write it.
 */
export const approvePrune: Verb = {
  name: 'approve-prune',
  usage: APPROVE_PRUNE_USAGE,
  summary: 'let the worker delete exactly the objects that it holds back (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This cannot be approved',
  run: async asking => {
    const digests = parseApprovePrune(asking.line.words)
    const { context } = asking
    for (const fleet of await fleetsHere(asking)) {
      await context.queue.alone(`approve-prune ${fleet.repository.id} ${fleet.branch}`, () =>
        record(asking, fleet, digests),
      )
      for (const { name: cluster, fleet: url, branch, mode } of context.bindings) {
        if (mode !== 'reconcile' || url !== fleet.repository.url || branch !== fleet.branch) continue
        await context.queue.add('reconcile', { cluster })
      }
    }
    return { reaction: 'rocket' }
  },
}

async function record(asking: Asking, { repository, branch }: FleetPlace, digests: readonly string[]): Promise<void> {
  const { place, data, comment, installation } = asking
  const headSha = await installation.head(repository, { branch })
  if (headSha === undefined) return
  const runs = await listOurCheckRuns(place.octokit, place.app, data, headSha)
  const before = readPruneRecord(runs.find(({ name }) => name === PRUNE_RUN)?.text ?? '')
  const approved = withDigests(before, { by: comment.author.login, at: comment.createdAt, digests })
  await publishCheckRun(place.octokit, place.app, data, {
    ...pruneRecord(approved),
    headSha,
    name: PRUNE_RUN,
    externalId: `approve-prune:${comment.id}`,
    conclusion: 'success',
    annotations: [],
  })
}
