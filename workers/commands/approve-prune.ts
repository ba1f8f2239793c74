import { MAX_PRINTS } from '../../src/approval/change-prunes.ts'
import { commandError } from '../../src/command/command-error.ts'
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
import { evaluatePullRequest } from '../evaluate/evaluate-pull-request.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { decidesHere, fleetsHere } from './fleets-here.ts'
import { mayDecideForFleet } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import { refuseForeignFleets } from './refuse-foreign-fleets.ts'

/**
 * Lets the worker delete what it holds back, or would hold back after a merge, because it is much at once: exactly the sets
 * of objects that are named by their digests. The record is a check run of our App on the commit that is applied now, or on
 * the head of the pull request, so nobody else can write it.
 */
export const approvePrune: BailiwickCommand = {
  name: 'approve-prune',
  decision: 'approve-prune',
  usage: APPROVE_PRUNE_USAGE,
  summary: 'let the worker delete exactly these objects, now or after the merge of this pull request (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: command => (command.comment.issue.pullRequest ? mayDecideForFleet(command) : decidesHere(command)),
  refusal: 'This cannot be approved',
  run: async command => {
    const digests = parseApprovePrune(command.line.words)
    const { context } = command
    const before = command.comment.issue.pullRequest ? await approveChange(command, digests) : undefined
    const rest = digests.filter(digest => digest !== before)
    if (rest.length === 0) return { reaction: 'rocket' }
    const fleets = await fleetsHere(command)
    if (fleets.length === 0) throw unknownDigest(rest[0]!)
    for (const fleet of fleets) {
      await context.queue.withLock(`approve-prune ${fleet.repository.id} ${fleet.branch}`, () =>
        record(command, fleet, rest),
      )
      for (const { name: cluster, fleet: url, branch, mode } of context.bindings) {
        if (mode !== 'reconcile' || url !== fleet.repository.url || branch !== fleet.branch) continue
        await context.queue.add('reconcile', { cluster })
      }
    }
    return { reaction: 'rocket' }
  },
}

function unknownDigest(digest: string) {
  return commandError(
    `${digest} is not the digest of what this pull request deletes now`,
    'Copy the command from its check.',
  )
}

/** Approves what the pull request would delete now, if that has one of the digests; the answer is that digest. */
async function approveChange(command: CommandContext, digests: readonly string[]): Promise<string | undefined> {
  const { context, place, data, comment, attempt } = command
  const pull = await presentPull(command)
  const { prunes } = (await evaluatePullRequest(context, subjectOf(command), pull, attempt)).context
  if (!prunes || !digests.includes(prunes.digest)) return undefined
  const { digest, prints } = prunes
  if (prints.length > MAX_PRINTS) {
    throw commandError(
      `more than ${MAX_PRINTS} objects cannot be approved before the merge`,
      'Merge it, then approve what the apply check of the commit lists.',
    )
  }
  await refuseForeignFleets(command, pull)
  const approved = { by: comment.author.login, at: comment.createdAt, digests: [digest], pull: pull.number, prints }
  await publishCheckRun(place.octokit, place.app, data, {
    ...pruneRecord(approved),
    headSha: pull.head.sha,
    name: PRUNE_RUN,
    externalId: `approve-prune:${comment.id}`,
    conclusion: 'success',
    annotations: [],
  })
  await evaluateAgain(command)
  return digest
}

async function record(
  command: CommandContext,
  { repository, branch }: FleetPlace,
  digests: readonly string[],
): Promise<void> {
  const { place, data, comment, installation } = command
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
