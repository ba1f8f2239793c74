import { github } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

export type Reaction = '+1' | '-1' | 'confused' | 'eyes' | 'rocket'

/** Reacts to a comment of an issue or pull request; GitHub keeps one reaction of a kind per author, so twice is once. */
export async function react(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  comment: number,
  content: Reaction,
): Promise<void> {
  await github(`react to a comment of ${owner}/${repo}`, () =>
    octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content }),
  )
}
