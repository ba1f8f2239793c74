import { parseRename, RENAME_USAGE } from '../../src/offboard/parse-offboard.ts'
import { decidesHere } from './fleets-here.ts'
import { runOffboarding } from './offboard.ts'
import type { Verb } from './verb.ts'

/** Renames a tenant in three pull requests: add the new accounts, change the owner, remove the old accounts. */
export const renameVerb: Verb = {
  name: 'rename',
  decision: 'rename',
  usage: RENAME_USAGE,
  summary: 'give a tenant another name by three pull requests; --continue: the last is applied (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'This tenant cannot be renamed',
  run: asking => runOffboarding(asking, parseRename(asking.line.words, `/bailiwick ${RENAME_USAGE}`, '--continue')),
}
