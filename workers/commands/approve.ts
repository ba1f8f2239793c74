import { APPROVAL_RUN, APPROVE_USAGE, approvalRecord, parseApprove } from '../../src/command/approval-record.ts'
import { commandError } from '../../src/command/command-error.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { hasOtherAdmins } from '../evaluate/is-fleet-admin.ts'
import { peopleOfPull } from '../evaluate/people-of.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayDecideForFleet } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import { refuseForeignFleets } from './refuse-foreign-fleets.ts'
import { refuseUnseenHead } from './refuse-unseen-head.ts'

/**
 * Gives the required approvals of one head of a pull request, as a review would: on GitHub an author cannot review their own
 * pull request. The record is a check run of our App on that commit, so it ends with the next push and only our App can write it.
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
    const { line, place, data, comment } = command
    const sha = parseApprove(line.words)
    const pull = await presentPull(command)
    await refuseUnseenHead(command, pull, sha, head => `/bailiwick approve ${head}`)
    await refuseForeignFleets(command, pull)
    await refuseOwn(command, pull)
    const record = { by: comment.author.login, at: comment.createdAt, pull: pull.number, base: pull.base.ref }
    await publishCheckRun(place.octokit, place.app, data, {
      ...approvalRecord(record, pull.head.sha),
      headSha: pull.head.sha,
      name: APPROVAL_RUN,
      externalId: `approve:${comment.id}`,
      conclusion: 'success',
      annotations: [],
    })
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

/** Their own change is approved by themselves only where no other fleet admin could. */
async function refuseOwn(command: CommandContext, pull: PullRequest): Promise<void> {
  const { login } = command.comment.author
  const isBy = (other: string | undefined) => other?.toLowerCase() === login.toLowerCase()
  const people = await peopleOfPull(subjectOf(command), pull)()
  if (!isBy(pull.author?.login) && !people?.some(isBy)) return
  for (const fleet of await command.fleetsOf()) {
    if (!(await hasOtherAdmins(subjectOf(command), fleet, login))) continue
    throw commandError(
      'a fleet admin cannot approve a pull request that they opened or pushed to, because the fleet has other admins',
      'Ask another fleet admin.',
    )
  }
}
