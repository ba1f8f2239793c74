import { OVERRIDE_USAGE, parseOverride } from '../../src/command/parse-override.ts'
import { OVERRIDE_RUN, overrideRecord, pendingOverride } from '../../src/command/record.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { BailiwickCommand } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayDecideForFleet } from './may.ts'
import { recordOf } from './override-record.ts'
import { presentPull } from './present-pull.ts'
import { refuseForeignFleets } from './refuse-foreign-fleets.ts'
import { refuseUnseenHead } from './refuse-unseen-head.ts'

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
