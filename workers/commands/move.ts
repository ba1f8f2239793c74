import { MOVE_USAGE, parseMove } from '../../src/offboard/parse-offboard.ts'
import { decidesHere } from './fleets-here.ts'
import { runOffboarding } from './offboard.ts'
import type { Verb } from './verb.ts'

/** Moves a tenant to another cluster in three pull requests: first it comes to the new one, then it leaves the old one. */
export const moveVerb: Verb = {
  name: 'move',
  decision: 'move',
  usage: MOVE_USAGE,
  summary: 'move a tenant to another cluster by three pull requests; --continue: the last is applied (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be moved',
  run: asking => runOffboarding(asking, parseMove(asking.line.words, `/bailiwick ${MOVE_USAGE}`, '--continue')),
}
