import { parseRename, RENAME_USAGE } from '../../src/offboard/parse-offboard.ts'
import type { BailiwickCommand } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'
import { runOffboarding } from './offboard.ts'

/** Renames a tenant in three pull requests: add the new accounts, change the owner, remove the old accounts. */
export const renameVerb: BailiwickCommand = {
  name: 'rename',
  decision: 'rename',
  usage: RENAME_USAGE,
  summary: 'give a tenant another name by three pull requests; --continue: the last is applied (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be renamed',
  run: command => runOffboarding(command, parseRename(command.line.words, `/bailiwick ${RENAME_USAGE}`, '--continue')),
}
