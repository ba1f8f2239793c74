import { DIFF_USAGE, diffText } from '../../src/command/diff-text.ts'
import { mayAsk } from './may.ts'
import { shownVerdict } from './shown-verdict.ts'
import type { Verb } from './verb.ts'

/** Shows rendered changes of this pull request. */
export const diff: Verb = {
  name: 'diff',
  decision: 'none',
  usage: DIFF_USAGE,
  summary: 'rendered changes of this pull request',
  where: 'pull-request',
  slow: true,
  may: mayAsk,
  run: async asking => {
    const { said, verdict } = await shownVerdict(asking)
    const clusters = (verdict?.clusters ?? []).map(({ name }) => name)
    const { changes, page } = said.context
    return { reaction: '+1', reply: diffText(asking.line.words, changes, clusters, page) }
  },
}
