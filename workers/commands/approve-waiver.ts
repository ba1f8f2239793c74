import { commandError } from '../../src/command/command-error.ts'
import { WAIVER_RUN } from '../../src/command/record.ts'
import { readWaiverRecord } from '../../src/command/waiver/waiver-record.ts'
import type { WaiverPull } from '../../src/command/waiver/waiver-text.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { isOurs } from '../../src/github/client/is-ours.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { openWaiverPull, WAIVER_BRANCH } from './open-waiver-pull.ts'
import { presentPull } from './present-pull.ts'
import { wasSeen } from './was-seen.ts'

/** Approves a waiver that another person requested, by writing the approver into it. It does not merge. */
export const approveWaiver: BailiwickCommand = {
  name: 'approve-waiver',
  decision: 'waiver',
  usage: 'approve-waiver',
  summary: "on a waiver's pull request: approve a waiver that someone else requested (fleet admins)",
  where: 'pull-request',
  slow: true,
  may: async command => (await fleetHere(command)) !== undefined,
  refusal: 'This waiver cannot be approved',
  run: async command => {
    const { context, place, installation, comment } = command
    const { login } = comment.author
    const pull = await presentPull(command)
    const fleet = await fleetHere(command)
    if (!fleet || fleet.branch !== pull.base.ref) throw noWaiver()
    const waiver = await recorded(command, pull)
    if (waiver.approver?.toLowerCase() !== login.toLowerCase()) refuseOwn(waiver, login)
    await openWaiverPull({ context, place, installation, fleet }, { ...waiver, approver: login }, pull.head.ref)
    await evaluateAgain(command)
    return { reaction: 'rocket' }
  },
}

/** The fleet of this repository, where the person decides for it. */
async function fleetHere(command: CommandContext) {
  return (await command.fleetsOf()).find(({ repository }) => repository.url === command.repository.url)
}

/** What our App noted on the present head: a branch that anybody changed since has no such note. */
async function recorded(command: CommandContext, pull: PullRequest): Promise<WaiverPull> {
  const { place, data, comment } = command
  const ours = pull.author !== undefined && isOurs(place.app, { user: pull.author })
  if (!ours || pull.head.fork || !pull.head.ref.startsWith(WAIVER_BRANCH)) throw noWaiver()
  const runs = await listOurCheckRuns(place.octokit, place.app, data, pull.head.sha)
  const run = runs.find(({ name }) => name === WAIVER_RUN)
  const waiver = run && readWaiverRecord(run.text)
  if (!run || !waiver) {
    throw commandError('its branch no longer matches the request', 'Close it, and request the waiver again.')
  }
  if (await wasSeen(command, pull)) return waiver
  if (waiver.approver?.toLowerCase() === comment.author.login.toLowerCase()) return waiver
  throw commandError(
    'the pull request changed after this comment was written',
    'Review it again, then repeat the command.',
  )
}

function refuseOwn({ entries, author, approver }: WaiverPull, login: string): void {
  const same = (other: string) => other.toLowerCase() === login.toLowerCase()
  if (entries.some(({ requester }) => same(requester))) {
    throw commandError('a fleet admin cannot approve their own request', 'Ask another fleet admin.')
  }
  if (same(author))
    throw commandError('a fleet admin cannot approve a waiver for their own change', 'Ask another fleet admin.')
  if (approver !== undefined) throw commandError(`${approver} has already approved it`, 'Merge it.')
}

function noWaiver() {
  return commandError(
    'this pull request does not come from a waive command',
    'Run it on the pull request that adds the waiver.',
  )
}
