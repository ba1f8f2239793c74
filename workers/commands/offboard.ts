import { OFFBOARD_USAGE, parseOffboard } from '../../src/offboard/parse-offboard.ts'
import type { OffboardRequest } from '../../src/offboard/request.ts'
import { advanceOffboarding } from '../offboarding/advance-offboarding.ts'
import { requestOf } from '../offboarding/offboarding-place.ts'
import { decidesHere } from './fleets-here.ts'
import type { Asking, Verb } from './verb.ts'

/**
 * Takes a tenant out of the fleet in two pull requests. How far it is, is read from the fleet and from GitHub each time, so
 * that the same command goes on wherever it was interrupted.
 */
export const offboardVerb: Verb = {
  name: 'offboard',
  decision: 'offboarding',
  usage: OFFBOARD_USAGE,
  summary: 'remove a tenant by two pull requests; --continue: the first is applied on every cluster (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be offboarded',
  run: asking => runOffboarding(asking, parseOffboard(asking.line.words, `/bailiwick ${OFFBOARD_USAGE}`, '--continue')),
}

/** Does the next step, or says what it waits for. */
export async function runOffboarding(
  { context, place, reader, installation, repository: fleet, comment, attempt }: Asking,
  { isContinued, ...asking }: OffboardRequest & { readonly isContinued: boolean },
): ReturnType<Verb['run']> {
  const here = { context, place, reader, installation, fleet, attempt }
  const { id, author, issue, createdAt: at } = comment
  const asked = { ...requestOf(asking), by: author.login, comment: id, issue: issue.number, at }
  const reply = await context.queue.alone(`offboard ${fleet.id} ${asking.tenant}`, () =>
    advanceOffboarding(here, asked, isContinued),
  )
  return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
}
