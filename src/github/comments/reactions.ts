import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

type Reaction = '+1' | '-1' | 'confused' | 'eyes' | 'rocket'

/** Reacts to a comment of an issue or pull request; GitHub keeps one reaction of a kind per author, so twice is once. */
export async function react(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  comment: number,
  content: Reaction,
): Promise<void> {
  await github(message`react to a comment of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content }),
  )
}

/** Which reactions our App has put on a comment. */
export async function ourReactions(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  comment: number,
): Promise<readonly string[]> {
  const found = await github(message`read the reactions to a comment of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.reactions.listForIssueComment, { owner, repo, comment_id: comment, per_page: 100 }),
  )
  return found.filter(one => isOurs(app, { user: one.user })).map(one => one.content)
}
