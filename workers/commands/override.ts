import { listOurCheckRuns, publishCheckRun } from '../../src/github/checks.ts'
import { addLabel, removeLabel } from '../../src/github/issues.ts'
import { isSince, type OpenedAnew, type PullRequest } from '../../src/github/pull-request.ts'
import { commandError } from '../../src/surface/command/command-line.ts'
import {
  OVERRIDE_RUN,
  OVERRIDE_USAGE,
  type OverrideRecord,
  overrideRecord,
  parseOverride,
  pendingOverride,
  readOverrideRecord,
} from '../../src/surface/command/record.ts'
import { HOLD_LABEL } from '../../src/verdict/decide.ts'
import { peopleOfPull } from '../fleets/evaluate-change.ts'
import { isLabeledHold, readHold } from '../gate/human-decisions.ts'
import {
  type BailiwickCommand,
  type CommandContext,
  evaluateAgain,
  mayDecideForFleet,
  mayWrite,
  presentPull,
  refuseForeignFleets,
  refuseUnseenHead,
} from './command-context.ts'

/**
 * Lets one head of a pull request pass, independent of the verdict, for the case that the gate itself is wrong. The
 * record is a check run of our App on that commit, so it ends with the next push and only our App can write it.
 */
export const override: BailiwickCommand = {
  name: 'override',
  decision: 'override',
  usage: OVERRIDE_USAGE,
  summary: 'let the current head of this pull request pass, independent of the verdict (fleet admins)',
  where: 'pull-request',
  slow: true,
  may: mayDecideForFleet,
  run: async command => {
    const { line, writer, comment } = command
    const request = parseOverride(line.words)
    const pull = await presentPull(command)
    const anew = await refuseUnseenHead(
      command,
      pull,
      request.sha,
      sha => `/bailiwick override ${sha} ${request.reason}`,
    )
    const { login: by } = comment.author
    await refuseForeignFleets(command, pull)
    const decision = { by, reason: request.reason, at: comment.createdAt, pull: pull.number, base: pull.base.ref }
    const { record, pending } = await recordOf(command, pull, decision, anew)
    const output = pending ? pendingOverride(record, pull.head.sha) : overrideRecord(record, pull.head.sha)
    await publishCheckRun(writer, {
      ...output,
      headSha: pull.head.sha,
      name: OVERRIDE_RUN,
      externalId: `override:${comment.id}`,
      conclusion: pending ? 'action_required' : 'success',
      annotations: [],
    })
    if (pending) return { reaction: '+1', reply: output.summary }
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

/**
 * Builds the record of an override, from what GitHub reports about the contributors of the pull request. Its author and
 * those who pushed to it cannot override its check. If a pusher is unknown, as on a fork's branch, a second admin must
 * confirm; until then the record is `pending` and nothing passes. Throws `command-input`.
 */
async function recordOf(
  command: CommandContext,
  pull: PullRequest,
  wanted: Omit<OverrideRecord, 'confirmedBy'>,
  anew: OpenedAnew | undefined,
): Promise<{ readonly record: OverrideRecord; readonly pending: boolean }> {
  const isBy = (login: string | undefined) => login?.toLowerCase() === wanted.by.toLowerCase()
  const people = await peopleOfPull(command, pull)()
  if (isBy(pull.author?.login) || people?.some(isBy)) {
    throw commandError(
      'a fleet admin cannot override the check of a pull request that they opened or pushed to',
      'Ask another fleet admin.',
    )
  }
  if (people) return { record: wanted, pending: false }
  const first = await firstRecord(command, pull, anew)
  if (!first || isBy(first.by)) return { record: wanted, pending: true }
  return { record: { ...first, confirmedBy: wanted.by }, pending: false }
}

/** A pending override by another fleet admin for the same head and base. */
async function firstRecord(
  command: CommandContext,
  pull: PullRequest,
  anew: OpenedAnew | undefined,
): Promise<OverrideRecord | undefined> {
  const runs = await listOurCheckRuns(command, pull.head.sha)
  const run = runs.find(({ name }) => name === OVERRIDE_RUN)
  if (run?.status !== 'completed' || run.conclusion !== 'action_required') return undefined
  const record = readOverrideRecord(run.text)
  if (record?.pull !== pull.number || record.base !== pull.base.ref || !isSince(record.at, anew)) return undefined
  return record
}

/** The label itself is the hold: anyone who may label can add or remove it without us. */
const LABEL = {
  name: HOLD_LABEL,
  color: 'b60205',
  description: 'On hold: the Bailiwick check fails until someone removes the hold',
}

/** Blocks a pull request, independent of the verdict. */
export const hold: BailiwickCommand = {
  name: 'hold',
  decision: 'hold',
  usage: 'hold',
  summary: 'block this pull request, independent of the verdict, until someone runs unhold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async command => {
    await addLabel(command.writer, command.data.issue, LABEL)
    await evaluateAgain(command)
    return { reaction: '+1' }
  },
}

/** Removes the hold, so that the verdict decides again. */
export const unhold: BailiwickCommand = {
  name: 'unhold',
  decision: 'unhold',
  usage: 'unhold',
  summary: 'remove the hold',
  where: 'pull-request',
  slow: false,
  may: mayWrite,
  run: async command => {
    const pull = await presentPull(command)
    const held = isLabeledHold(pull) || (await readHold(command, pull)) !== undefined
    // only a removal by our App clears the hold: if someone else removed it, it is added once more
    if (held) await addLabel(command.writer, command.data.issue, LABEL)
    await removeLabel(command.writer, command.data.issue, HOLD_LABEL)
    await evaluateAgain(command)
    return { reaction: '+1' }
  },
}
