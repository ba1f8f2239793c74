import { DIFF_USAGE, diffText } from '../../src/command/diff-text.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayAsk } from './may.ts'
import { shownVerdict } from './shown-verdict.ts'

/** Shows rendered changes of this pull request. */
export const diff: BailiwickCommand = {
  name: 'diff',
  decision: 'none',
  usage: DIFF_USAGE,
  summary: 'rendered changes of this pull request',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { evaluated, verdict } = await shownVerdict(command)
    const clusters = (verdict?.clusters ?? []).map(({ name }) => name)
    const { changes, page } = evaluated.context
    return { reaction: '+1', reply: diffText(command.line.words, changes, clusters, page) }
  },
}
