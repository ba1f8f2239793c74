import { commandError } from '../../src/command/command-error.ts'
import { OVERRIDE_RUN, type OverrideRecord, readOverrideRecord } from '../../src/command/record.ts'
import { listOurCheckRuns } from '../../src/github/checks/list-check-runs.ts'
import { isSince, type OpenedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { peopleOfPull } from '../evaluate/people-of.ts'
import type { CommandContext } from './command-context.ts'
import { subjectOf } from './present-pull.ts'

/**
 * Builds the record of an override, from what GitHub reports about the contributors of the pull request. Its author and
 * those who pushed to it cannot override its check. If a pusher is unknown, as on a fork's branch, a second admin must
 * confirm; until then the record is `pending` and nothing passes. Throws `command-input`.
 */
export async function recordOf(
  command: CommandContext,
  pull: PullRequest,
  wanted: Omit<OverrideRecord, 'confirmedBy'>,
  anew: OpenedAnew | undefined,
): Promise<{ readonly record: OverrideRecord; readonly pending: boolean }> {
  const isBy = (login: string | undefined) => login?.toLowerCase() === wanted.by.toLowerCase()
  const people = await peopleOfPull(subjectOf(command), pull)()
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

/** What another fleet admin asked for about the same head onto the same base, and that waits for a second one. */
async function firstRecord(
  { place, data }: CommandContext,
  pull: PullRequest,
  anew: OpenedAnew | undefined,
): Promise<OverrideRecord | undefined> {
  const runs = await listOurCheckRuns(place.octokit, place.app, data, pull.head.sha)
  const run = runs.find(({ name }) => name === OVERRIDE_RUN)
  if (run?.status !== 'completed' || run.conclusion !== 'action_required') return undefined
  const record = readOverrideRecord(run.text)
  if (record?.pull !== pull.number || record.base !== pull.base.ref || !isSince(record.at, anew)) return undefined
  return record
}
