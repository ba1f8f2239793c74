import { headSince } from '../../src/github/pulls/head-since.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import type { CommandContext } from './command-context.ts'

/**
 * Whether the present head of a pull request already existed when a comment was written, so that an approval covers
 * what its author saw. False for a fork's branch, and if GitHub does not show when the branch moved.
 */
export async function wasSeen({ reader, data, comment }: CommandContext, pull: PullRequest): Promise<boolean> {
  if (pull.head.fork) return false
  const since = await headSince(reader, data, pull.head.ref, pull.head.sha)
  // GitHub counts in whole seconds: what is equal may be later
  return since !== undefined && Date.parse(since) < Date.parse(comment.createdAt)
}
