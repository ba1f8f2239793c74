import { commandError, quoted } from '../../src/command/command-error.ts'
import { listOpenPullRequests } from '../../src/github/pulls/pull-request.ts'
import type { BailiwickCommand } from './command-context.ts'
import { evaluateAgain } from './evaluate-again.ts'
import { isAtLeast, mayWrite } from './may.ts'

const USAGE = 'check [--all]'

/** Evaluates again now, for example after an outage of GitHub, a source or the App. */
export const check: BailiwickCommand = {
  name: 'check',
  decision: 'none',
  usage: USAGE,
  summary: 'evaluate this pull request again now; `--all`: every open one of this repository (needs the role maintain)',
  where: 'anywhere',
  slow: false,
  may: mayWrite,
  run: async command => {
    const { line, reader, data, comment, role } = command
    const [option, more] = line.words
    if (more !== undefined || (option !== undefined && option !== '--all')) {
      throw commandError(`unknown argument ${quoted(line.rest)}`, `Write \`/bailiwick ${USAGE}\``)
    }
    if (option === undefined) {
      if (!comment.issue.pullRequest) {
        throw commandError('this is not a pull request', 'Comment on a pull request, or write `/bailiwick check --all`')
      }
      await evaluateAgain(command)
      return { reaction: '+1' }
    }
    if (!isAtLeast(role, 'maintain')) {
      throw commandError('--all requires the role maintain in this repository', 'Write `/bailiwick check`')
    }
    for (const { number } of await listOpenPullRequests(reader, data)) await evaluateAgain(command, number)
    return { reaction: '+1' }
  },
}
