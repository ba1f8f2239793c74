import { commandError } from '../../src/command/command-error.ts'
import { WAIVER_RUN } from '../../src/command/record.ts'
import { readWaiverRecord } from '../../src/command/waiver/waiver-record.ts'
import type { WaiverPull } from '../../src/command/waiver/waiver-text.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { isOurs } from '../../src/github/client/is-ours.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { openWaiverPull, WAIVER_BRANCH } from './open-waiver-pull.ts'
import { presentPull } from './present-pull.ts'
import type { Asking, Verb } from './verb.ts'
import { wasSeen } from './was-seen.ts'

/** Approves a waiver that another person requested, by writing the approver into it. It does not merge. */
export const approveWaiver: Verb = {
  name: 'approve-waiver',
  decision: 'waiver',
  usage: 'approve-waiver',
  summary: "on a waiver's pull request: approve a waiver that someone else requested (fleet admins)",
  where: 'pull-request',
  slow: true,
  may: async asking => (await fleetHere(asking)) !== undefined,
  refusal: 'This waiver cannot be approved',
  run: async asking => {
    const { context, place, installation, comment } = asking
    const { login } = comment.author
    const pull = await presentPull(asking)
    const fleet = await fleetHere(asking)
    if (!fleet || fleet.branch !== pull.base.ref) throw noWaiver()
    const waiver = await recorded(asking, pull)
    if (waiver.approver?.toLowerCase() !== login.toLowerCase()) refuseOwn(waiver, login)
    await openWaiverPull({ context, place, installation, fleet }, { ...waiver, approver: login }, pull.head.ref)
    await evaluateAgain(asking)
    return { reaction: 'rocket' }
  },
}

/** The fleet of this repository, where the person decides for it. */
async function fleetHere(asking: Asking) {
  return (await asking.fleetsOf()).find(({ repository }) => repository.url === asking.repository.url)
}

/** What our App noted on the present head: a branch that anybody changed since has no such note. */
async function recorded(asking: Asking, pull: PullRequest): Promise<WaiverPull> {
  const { place, data, comment } = asking
  const ours = pull.author !== undefined && isOurs(place.app, { user: pull.author })
  if (!ours || pull.head.fork || !pull.head.ref.startsWith(WAIVER_BRANCH)) throw noWaiver()
  const runs = await listOurCheckRuns(place.octokit, place.app, data, pull.head.sha)
  const run = runs.find(({ name }) => name === WAIVER_RUN)
  const waiver = run && readWaiverRecord(run.text)
  if (!run || !waiver) {
    throw commandError('its branch no longer matches the request', 'Close it, and request the waiver again.')
  }
  if (await wasSeen(asking, pull)) return waiver
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
