import { MOVE_USAGE, parseMove } from '../../src/offboard/parse-offboard.ts'
import type { BailiwickCommand } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'
import { runOffboarding } from './offboard.ts'

/** Moves a tenant to another cluster in three pull requests: first it comes to the new one, then it leaves the old one. */
export const moveVerb: BailiwickCommand = {
  name: 'move',
  decision: 'move',
  usage: MOVE_USAGE,
  summary: 'move a tenant to another cluster by three pull requests; --continue: the last is applied (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be moved',
  run: command => runOffboarding(command, parseMove(command.line.words, `/bailiwick ${MOVE_USAGE}`, '--continue')),
}
