import { HAND_OVER_USAGE, parseHandOver } from '../../src/offboard/parse-offboard.ts'
import type { BailiwickCommand } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'
import { runOffboarding } from './offboard.ts'

/** Gives a namespace to another tenant in two pull requests: the first changes the owner, the second removes the former tenant's rights. */
export const handOverVerb: BailiwickCommand = {
  name: 'hand-over',
  decision: 'hand-over',
  usage: HAND_OVER_USAGE,
  summary:
    'give a namespace to another tenant by two pull requests; --continue: the former tenant has removed what it applied (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This namespace cannot be handed over',
  run: command =>
    runOffboarding(command, parseHandOver(command.line.words, `/bailiwick ${HAND_OVER_USAGE}`, '--continue')),
}
