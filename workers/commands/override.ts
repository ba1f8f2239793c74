import { commandError } from '../../src/command/command-error.ts'
import { OVERRIDE_USAGE, type OverrideRequest, parseOverride } from '../../src/command/parse-override.ts'
import { OVERRIDE_RUN, overrideRecord, pendingOverride } from '../../src/command/record.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import { isSince, openedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayDecideForFleet } from './may.ts'
import { recordOf } from './override-record.ts'
import { presentPull } from './present-pull.ts'
import { refuseForeignFleets } from './refuse-foreign-fleets.ts'
import { wasSeen } from './was-seen.ts'

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
    const { line, place, data, comment } = command
    const request = parseOverride(line.words)
    const pull = await presentPull(command)
    await refuseUnseenHead(command, request, pull)
    const anew = await openedAnew(command.reader, data, pull.number)
    if (!isSince(comment.createdAt, anew)) {
      throw commandError(
        'the pull request was retargeted or reopened after this comment was written',
        'Review it, then repeat the command.',
      )
    }
    const { login: by } = comment.author
    await refuseForeignFleets(command, pull)
    const said = { by, reason: request.reason, at: comment.createdAt, pull: pull.number, base: pull.base.ref }
    const { record, pending } = await recordOf(command, pull, said, anew)
    const output = pending ? pendingOverride(record, pull.head.sha) : overrideRecord(record, pull.head.sha)
    await publishCheckRun(place.octokit, place.app, data, {
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

/** Only the commit that the admin looked at: what was pushed after the comment was written, nobody has agreed to. */
async function refuseUnseenHead(command: CommandContext, request: OverrideRequest, pull: PullRequest): Promise<void> {
  const { sha } = pull.head
  const line = `/bailiwick override ${sha.slice(0, 12)} ${request.reason}`
  const again = `Review it, then write \`${line.replaceAll('`', "'")}\``
  if (request.sha !== undefined) {
    if (sha.startsWith(request.sha)) return
    throw commandError(`${request.sha} is not the head of this pull request`, again)
  }
  if (await wasSeen(command, pull)) return
  throw commandError('the current head may be newer than this comment', again)
}
