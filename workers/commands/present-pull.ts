import { commandError } from '../../src/command/command-error.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { CommandContext } from './command-context.ts'

/** Returns the pull request of a command, in its present state. Throws `command-input` if it is closed or gone. */
export async function presentPull({ reader, data }: CommandContext): Promise<PullRequest> {
  const pull = await readPullRequest(reader, data, data.issue)
  if (pull?.state === 'open') return pull
  throw commandError('the pull request is no longer open', 'Reopen it first.')
}

/** Returns the repository of a command as input for an evaluation. */
export function subjectOf({ installation, repository, reader }: CommandContext): OpenedRepository {
  return { installation, repository, octokit: reader }
}
