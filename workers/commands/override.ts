import { commandError } from '../../src/command/command-error.ts'
import { OVERRIDE_USAGE, type OverrideRequest, parseOverride } from '../../src/command/parse-override.ts'
import { OVERRIDE_RUN, overrideRecord, pendingOverride } from '../../src/command/record.ts'
import { publishCheckRun } from '../../src/github/checks/check-run.ts'
import { isSince, openedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { FleetPlace } from '../context/readable-repository.ts'
import { answersOf } from '../evaluate/answers-of.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { mayDecideForFleet } from './may.ts'
import { recordOf } from './override-record.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import type { Asking, Verb } from './verb.ts'
import { wasSeen } from './was-seen.ts'

/**
 * Lets one head of a pull request pass, independent of the verdict, for the case that the gate itself is wrong. The
 * record is a check run of our App on that commit, so it ends with the next push and only our App can write it.
 */
export const override: Verb = {
  name: 'override',
  usage: OVERRIDE_USAGE,
  summary: 'let the current head of this pull request pass, independent of the verdict (fleet admins)',
  where: 'pull-request',
  slow: true,
  may: mayDecideForFleet,
  run: async asking => {
    const { line, place, data, comment } = asking
    const request = parseOverride(line.words)
    const pull = await presentPull(asking)
    await refuseUnseenHead(asking, request, pull)
    const anew = await openedAnew(asking.reader, data, pull.number)
    if (!isSince(comment.createdAt, anew)) {
      throw commandError(
        'the pull request was retargeted or reopened after this comment was written',
        'Review it, then repeat the command.',
      )
    }
    const { login: by } = comment.author
    await refuseForeignFleets(asking, pull)
    const said = { by, reason: request.reason, at: comment.createdAt, pull: pull.number, base: pull.base.ref }
    const { record, pending } = await recordOf(asking, pull, said, anew)
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
    await evaluateAgain(asking)
    return { reaction: 'rocket' }
  },
}

/** Only the commit that the admin looked at: what was pushed after the comment was written, nobody has agreed to. */
async function refuseUnseenHead(asking: Asking, request: OverrideRequest, pull: PullRequest): Promise<void> {
  const { sha } = pull.head
  const line = `/bailiwick override ${sha.slice(0, 12)} ${request.reason}`
  const again = `Review it, then write \`${line.replaceAll('`', "'")}\``
  if (request.sha !== undefined) {
    if (sha.startsWith(request.sha)) return
    throw commandError(`${request.sha} is not the head of this pull request`, again)
  }
  if (await wasSeen(asking, pull)) return
  throw commandError('the current head may be newer than this comment', again)
}

/** A verdict that several fleets gave is let pass only by who decides for all of them. */
async function refuseForeignFleets(asking: Asking, pull: PullRequest): Promise<void> {
  const concerned = await concernedFleets(asking, pull)
  if (concerned.length === 0) {
    throw commandError('no fleet reads this change, so there is nothing to override', 'Merge it without an override.')
  }
  const mine = await asking.fleetsOf()
  const isMine = (url: string, branch: string) =>
    mine.some(fleet => fleet.repository.url === url && fleet.branch === branch)
  if (concerned.every(({ repository, branch }) => isMine(repository.url, branch))) return
  throw commandError('you are not an admin of a fleet that this change affects', 'Ask one of its admins.')
}

/**
 * The fleets that a pull request concerns. Where that cannot be found out, every one that it might: who lets it pass then
 * decides for all of them. An override is for the day on which evaluating itself fails, so whatever fails here is no answer.
 */
async function concernedFleets(asking: Asking, pull: PullRequest): Promise<readonly FleetPlace[]> {
  const { context, installation } = asking
  try {
    return (await answersOf(context, subjectOf(asking), pull)).map(answer => answer.place)
  } catch (error) {
    context.log.warn({ err: error, pull: pull.number }, 'could not determine which fleets a pull request affects')
    return (await installation.designation()).fleets
  }
}
