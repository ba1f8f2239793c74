import type { Visibility } from '../../fleet/model/visibility.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { visibilityOf } from './visibility.ts'

/** What a name leads to now. */
export interface NamedRepository extends RepositoryName {
  /** Stays when it is renamed or moved. */
  readonly id: number
  /** Normalised. */
  readonly url: string
  readonly visibility: Visibility
}

/** The repository to which a name leads: GitHub leads on from names that it had before. Undefined where the App may not read it. */
export async function readRepository(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
): Promise<NamedRepository | undefined> {
  const found = await unlessMissing(message`read the repository ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.get({ owner, repo }),
  )
  if (!found) return undefined
  const { id, owner: account, name, html_url: url } = found.data
  return { id, owner: account.login, repo: name, url: normaliseUrl(url), visibility: visibilityOf(found.data) }
}
