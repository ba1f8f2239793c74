import { EXPLAIN_USAGE, explainText } from '../../src/command/explain-text.ts'
import { rules } from '../../src/rules/registry.ts'
import type { BailiwickCommand } from './command-context.ts'
import { mayAsk } from './may.ts'
import { shownVerdict } from './shown-verdict.ts'

/** Explains a rule and lists its findings on this pull request. */
export const explain: BailiwickCommand = {
  name: 'explain',
  decision: 'none',
  usage: EXPLAIN_USAGE,
  summary: 'what a rule requires, why, and its findings on this pull request',
  where: 'anywhere',
  slow: true,
  may: mayAsk,
  run: async command => {
    const { line, comment, repository } = command
    const shown = comment.issue.pullRequest ? await shownVerdict(command) : undefined
    return { reaction: '+1', reply: explainText(line.words[0], rules, repository.url, shown?.verdict) }
  },
}
