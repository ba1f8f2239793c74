import { parseWaive, WAIVE_USAGE } from '../../src/command/parse-waive.ts'
import { mayWrite } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import { requestWaivers } from './request-waivers.ts'
import type { Verb } from './verb.ts'

/** Requests a waiver of a violation, by a pull request in the fleet repository. */
export const waive: Verb = {
  name: 'waive',
  decision: 'waiver',
  usage: WAIVE_USAGE,
  summary: 'ask the fleet admins to accept a violation (default: for 30 days)',
  where: 'pull-request',
  slow: true,
  may: mayWrite,
  refusal: 'This cannot be waived',
  run: async asking => {
    const { context, line, today, comment } = asking
    const { target, reason, until } = parseWaive(line.words, today)
    const pull = await presentPull(asking)
    const wish = { by: comment.author.login, target, reason, until }
    await requestWaivers(context, subjectOf(asking), pull, wish)
    return { reaction: 'rocket' }
  },
}
