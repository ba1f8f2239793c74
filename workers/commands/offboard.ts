import { OFFBOARD_USAGE, parseOffboard } from '../../src/offboard/parse-offboard.ts'
import type { OffboardRequest } from '../../src/offboard/request.ts'
import { advanceOffboarding } from '../offboarding/advance-offboarding.ts'
import { requestOf } from '../offboarding/offboarding-place.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'

/**
 * Takes a tenant out of the fleet in two pull requests. How far it is, is read from the fleet and from GitHub each time, so
 * that the same command goes on wherever it was interrupted.
 */
export const offboardVerb: BailiwickCommand = {
  name: 'offboard',
  decision: 'offboarding',
  usage: OFFBOARD_USAGE,
  summary: 'remove a tenant by two pull requests; --continue: the first is applied on every cluster (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be offboarded',
  run: command =>
    runOffboarding(command, parseOffboard(command.line.words, `/bailiwick ${OFFBOARD_USAGE}`, '--continue')),
}

/** Does the next step, or says what it waits for. */
async function runOffboarding(
  { context, place, reader, installation, repository: fleet, comment, attempt }: CommandContext,
  { isContinued, ...command }: OffboardRequest & { readonly isContinued: boolean },
): ReturnType<BailiwickCommand['run']> {
  const here = { context, place, reader, installation, fleet, attempt }
  const { id, author, issue, createdAt: at } = comment
  const asked = { ...requestOf(command), by: author.login, comment: id, issue: issue.number, at }
  const reply = await context.queue.withLock(`offboard ${fleet.id} ${command.tenant}`, () =>
    advanceOffboarding(here, asked, isContinued),
  )
  return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
}
