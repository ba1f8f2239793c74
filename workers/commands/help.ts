import { helpText } from '../../src/command/help-text.ts'
import { mayAsk } from './may.ts'
import type { Asking, Verb } from './verb.ts'

/** Lists the commands that the person may run here; `all`: every command. */
export async function helpFor(asking: Asking, all: readonly Verb[], about?: string): Promise<string> {
  const here = all.filter(verb => verb.where === 'anywhere' || asking.comment.issue.pullRequest)
  const allowed = await Promise.all(here.map(verb => verb.may(asking)))
  const offered = here.filter((_, index) => allowed[index])
  return helpText(asking.comment.author.login, offered, about)
}

/** The command that lists the others. */
export function helpVerb(others: () => readonly Verb[]): Verb {
  return {
    name: 'help',
    decision: 'none',
    usage: 'help',
    summary: 'the commands that you can run here',
    where: 'anywhere',
    slow: false,
    may: mayAsk,
    run: async asking => ({ reaction: '+1', reply: await helpFor(asking, others()) }),
  }
}
