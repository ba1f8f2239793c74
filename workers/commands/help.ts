import { helpText } from '../../src/command/help-text.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { mayAsk } from './may.ts'

/** Lists the commands that the person may run here; `all`: every command. */
export async function helpFor(
  command: CommandContext,
  all: readonly BailiwickCommand[],
  about?: string,
): Promise<string> {
  const here = all.filter(({ where }) => where === 'anywhere' || command.comment.issue.pullRequest)
  const allowed = await Promise.all(here.map(one => one.may(command)))
  const offered = here.filter((_, index) => allowed[index])
  return helpText(command.comment.author.login, offered, about)
}

/** The command that lists the others. */
export function helpVerb(others: () => readonly BailiwickCommand[]): BailiwickCommand {
  return {
    name: 'help',
    decision: 'none',
    usage: 'help',
    summary: 'the commands that you can run here',
    where: 'anywhere',
    slow: false,
    may: mayAsk,
    run: async command => ({ reaction: '+1', reply: await helpFor(command, others()) }),
  }
}
