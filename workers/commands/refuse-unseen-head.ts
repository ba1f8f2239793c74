import { commandError } from '../../src/command/command-error.ts'
import { isSince, type OpenedAnew, openedAnew } from '../../src/github/pulls/opened-anew.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { CommandContext } from './command-context.ts'
import { wasSeen } from './was-seen.ts'

/**
 * Refuses a decision about another commit or branch than its author saw: it does not cover what was pushed after the
 * comment was written. `sha`: first digits of the commit that the comment names; `again`: the command to write for a commit.
 */
export async function refuseUnseenHead(
  command: CommandContext,
  pull: PullRequest,
  sha: string | undefined,
  again: (sha: string) => string,
): Promise<OpenedAnew | undefined> {
  const head = pull.head.sha
  const fix = `Review it, then write \`${again(head.slice(0, 12)).replaceAll('`', "'")}\``
  if (sha !== undefined && !head.startsWith(sha)) {
    throw commandError(`${sha} is not the head of this pull request`, fix)
  }
  if (sha === undefined && !(await wasSeen(command, pull))) {
    throw commandError('the current head may be newer than this comment', fix)
  }
  const anew = await openedAnew(command.reader, command.data, pull.number)
  if (isSince(command.comment.createdAt, anew)) return anew
  throw commandError(
    'the pull request was retargeted or reopened after this comment was written',
    'Review it, then repeat the command.',
  )
}
