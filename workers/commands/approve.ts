import { hash } from 'node:crypto'
import { code } from '../../src/base/markup.ts'
import { visible } from '../../src/base/visible.ts'
import { FLEET_FILE } from '../../src/fleet/model/fleet-config.ts'
import { listOurCheckRuns, publishCheckRun } from '../../src/github/checks.ts'
import type { PullRequest } from '../../src/github/pull-request.ts'
import type { SourceUse } from '../../src/rules/model/finding.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import { withApprovedSources } from '../../src/surface/command/fleet-file.ts'
import {
  APPROVE_PRUNE_USAGE,
  APPROVE_USAGE,
  PRUNE_RUN,
  parseApprove,
  parseApprovePrune,
  pruneRecord,
  readPruneRecord,
  withDigests,
} from '../../src/surface/command/record.ts'
import { MAX_PRINTS } from '../../src/verdict/change-prunes.ts'
import { answersOf, pushersOf } from '../fleets/evaluate-change.ts'
import { openWriter } from '../fleets/github-installation.ts'
import { narrowerSources, readFleetFileText } from '../fleets/source-reader.ts'
import type { FleetPlace } from '../fleets/worker-context.ts'
import { evaluatePullRequest } from '../gate/evaluate-pull-request.ts'
import { hasOtherAdmins } from '../gate/missing-approvals.ts'
import { openRecordedPull, publishApproval } from '../gate/record-decision.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  decidesHere,
  evaluateAgain,
  fleetsHere,
  mayDecideForFleet,
  presentPull,
  refuseForeignFleets,
  refuseUnseenHead,
} from './command-context.ts'

/**
 * Gives the required approvals of one head of a pull request, as a review would: on GitHub an author cannot review their own
 * pull request.
 */
export const approve: BailiwickCommand = {
  name: 'approve',
  decision: 'approval',
  usage: APPROVE_USAGE,
  summary: 'give the required approvals of the current head of this pull request (fleet admins)',
  where: 'pull-request',
  slow: true,
  may: mayDecideForFleet,
  refusal: 'This cannot be approved',
  run: async command => {
    const { line, writer, comment } = command
    const sha = parseApprove(line.words)
    const pull = await presentPull(command)
    await refuseUnseenHead(command, pull, sha, head => `/bailiwick approve ${head}`)
    await refuseForeignFleets(command, pull)
    await refuseOwn(command, pull)
    const approval = { by: comment.author.login, at: comment.createdAt, pull: pull.number, base: pull.base.ref }
    await publishApproval(writer, pull.head.sha, approval)
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

/** An author may approve their own change only if no other fleet admin could. */
async function refuseOwn(command: CommandContext, pull: PullRequest): Promise<void> {
  const { login } = command.comment.author
  const isBy = (other: string | undefined) => other?.toLowerCase() === login.toLowerCase()
  if (!isBy(pull.author?.login) && !(await pushersOf(command, pull))?.some(isBy)) return
  for (const fleet of await command.fleetsOf()) {
    if (!(await hasOtherAdmins(command.installation, fleet, login))) continue
    throw commandError(
      'a fleet admin cannot approve a pull request that they opened or pushed to, because the fleet has other admins',
      'Ask another fleet admin.',
    )
  }
}

/** Lists the tenant's own sources of a pull request in the fleet's file, by a pull request; its merge approves them. */
export const approveSource: BailiwickCommand = {
  name: 'approve-source',
  decision: 'approval',
  usage: 'approve-source',
  summary:
    "approve the tenant's own sources that this pull request adds, by a pull request on the fleet (fleet admins)",
  where: 'pull-request',
  slow: true,
  may: mayDecideForFleet,
  refusal: 'The sources cannot be approved',
  run: async command => {
    const { repository, installation } = command
    const pull = await presentPull(command)
    const mine = (await command.fleetsOf()).map(keyOf)
    const answers = await answersOf(command, pull)
    const asked = answers.flatMap(({ place, evaluation }) => {
      const uses = evaluation.verdict.requiredApprovals.flatMap(({ source }) => source ?? [])
      return uses.length > 0 && mine.includes(keyOf(place)) ? [{ place, uses }] : []
    })
    if (asked.length === 0) {
      throw commandError(
        'no source of this pull request needs your approval',
        '`/bailiwick status` lists the approvals that it needs.',
      )
    }
    for (const { place, uses } of asked) {
      if ((await narrowerSources(installation, place.repository.url, [repository.url])).length > 0) {
        throw commandError(
          "more people can see the fleet's repository than this one",
          'Approve the pull request in a review.',
        )
      }
      await open(command, place, uses)
    }
    return { reaction: 'rocket' }
  },
}

const keyOf = ({ repository, branch }: FleetPlace) => JSON.stringify([repository.url, branch])

async function open(
  { context, installation, owner, repo, comment }: CommandContext,
  fleet: FleetPlace,
  uses: readonly SourceUse[],
) {
  const { commit, text } = await readFleetFileText(installation, fleet)
  const content = withApprovedSources(text, uses)
  const of = `${owner}/${repo}#${comment.issue.number}`
  const title = visible(`Approve sources of ${of}`, 200)
  const lines = uses.map(
    use =>
      `- tenant ${code(use.tenant, 80)}: ${code(use.url, 300)} ${code(JSON.stringify(use.ref), 300)} as ${code(use.account, 300)}`,
  )
  const body = [
    `${code(comment.author.login, 60)} asks to approve on ${of}:`,
    lines.join('\n'),
    'Once this is merged, pushes there are deployed without another approval, with the rights of that account.',
  ].join('\n\n')
  await openRecordedPull(await openWriter(context, installation.id, fleet.repository), {
    base: fleet.branch,
    // a merged branch may still exist, so every fleet commit gets a branch of its own
    branch: `bailiwick/approve-source-${hash('sha256', JSON.stringify([commit, uses])).slice(0, 10)}`,
    files: [{ path: FLEET_FILE, content }],
    ...{ title, body },
  })
}

/**
 * Lets the worker delete large sets of objects that it holds back, or would hold back after a merge: exactly the sets
 * with the given digests. The record is a check run of our App on the commit that is applied now, or on the head of the
 * pull request, so only our App can write it.
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

/** Approves what the pull request would delete now, if that has one of the digests; returns that digest. */
async function approveChange(command: CommandContext, digests: readonly string[]): Promise<string | undefined> {
  const { writer, comment } = command
  const pull = await presentPull(command)
  const { prunes } = (await evaluatePullRequest(command, pull)).context
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
  await publishCheckRun(writer, {
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
  const { writer, comment, installation } = command
  const headSha = await installation.head(repository, { branch })
  if (headSha === undefined) return
  const runs = await listOurCheckRuns(command, headSha)
  const before = readPruneRecord(runs.find(({ name }) => name === PRUNE_RUN)?.text ?? '')
  const approved = withDigests(before, { by: comment.author.login, at: comment.createdAt, digests })
  await publishCheckRun(writer, {
    ...pruneRecord(approved),
    headSha,
    name: PRUNE_RUN,
    externalId: `approve-prune:${comment.id}`,
    conclusion: 'success',
    annotations: [],
  })
}
