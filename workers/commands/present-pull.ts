import { commandError } from '../../src/command/command-error.ts'
import { type PullRequest, readPullRequest } from '../../src/github/pulls/pull-request.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { Asking } from './verb.ts'

/** The pull request on which a command stands, as it is now. Throws `command-input` where it is closed or gone. */
export async function presentPull({ reader, data }: Asking): Promise<PullRequest> {
  const pull = await readPullRequest(reader, data, data.issue)
  if (pull?.state === 'open') return pull
  throw commandError('the pull request is no longer open', 'Reopen it first.')
}

/** The repository of a command, for whoever evaluates. */
export function subjectOf({ installation, repository, reader }: Asking): OpenedRepository {
  return { installation, repository, octokit: reader }
}
