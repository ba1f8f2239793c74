import { parseWaive, WAIVE_USAGE } from '../../src/command/parse-waive.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayWrite } from './may.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import { requestWaivers } from './request-waivers.ts'

/** Requests a waiver of a violation, by a pull request in the fleet repository. */
export const waive: BailiwickCommand = {
  name: 'waive',
  decision: 'waiver',
  usage: WAIVE_USAGE,
  summary: 'ask the fleet admins to accept a violation (default: for 30 days)',
  where: 'pull-request',
  slow: true,
  may: mayWrite,
  refusal: 'This cannot be waived',
  run: async command => {
    const { context, line, today, comment } = command
    const { target, reason, until } = parseWaive(line.words, today)
    const pull = await presentPull(command)
    const wish = { by: comment.author.login, target, reason, until }
    await requestWaivers(context, subjectOf(command), pull, wish)
    return { reaction: 'rocket' }
  },
}
