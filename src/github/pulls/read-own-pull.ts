import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A pull request that our App opened. */
interface OwnPull {
  readonly state: 'open' | 'closed' | 'merged'
  readonly body: string
}

/** The pull request as it is now; undefined where there is none, or another account opened it. */
export async function readOwnPull(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  number: number,
): Promise<OwnPull | undefined> {
  const found = await unlessMissing(message`read pull request ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.pulls.get({ owner, repo, pull_number: number }),
  )
  if (!found || !isOurs(app, found.data)) return undefined
  const { merged, state, body } = found.data
  return { state: merged ? 'merged' : state, body: body ?? '' }
}
