import { OFFBOARD_USAGE, parseOffboard } from '../../src/offboard/parse-offboard.ts'
import { advanceOffboarding } from '../offboarding/advance-offboarding.ts'
import { decidesHere } from './fleets-here.ts'
import type { Verb } from './verb.ts'

/**
 * Takes a tenant out of the fleet in two pull requests. How far it is, is read from the fleet and from GitHub each time, so
 * that the same command goes on wherever it was interrupted.
 */
export const offboardVerb: Verb = {
  name: 'offboard',
  usage: OFFBOARD_USAGE,
  summary: 'remove a tenant by two pull requests; --continue: the first is applied on every cluster (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be offboarded',
  run: async ({ context, place, reader, installation, repository: fleet, comment, line, attempt }) => {
    const { tenant, clusters, isContinued } = parseOffboard(line.words, `/bailiwick ${OFFBOARD_USAGE}`, '--continue')
    const here = { context, place, reader, installation, fleet, attempt }
    const { login: by } = comment.author
    const asked = { tenant, clusters, by, comment: comment.id, issue: comment.issue.number, at: comment.createdAt }
    const reply = await context.queue.alone(`offboard ${fleet.id} ${tenant}`, () =>
      advanceOffboarding(here, asked, isContinued),
    )
    return { reaction: 'rocket', ...(reply === undefined ? {} : { reply }) }
  },
}
