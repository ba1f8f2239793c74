import type { Visibility } from '../../fleet/model/visibility.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { visibilityOf } from './visibility.ts'

/** A repository that an installation reaches. `id` stays when it is renamed or moved; the names do not. */
export interface Repository extends RepositoryName {
  readonly id: number
  /** Normalised, as sources are compared. */
  readonly url: string
  readonly defaultBranch: string
  readonly archived: boolean
  /** ISO time; '' where GitHub does not say. */
  readonly createdAt: string
  readonly visibility: Visibility
  /** When someone last pushed to it, to the second; null for never. */
  readonly pushedAt: string | null
}

/** All repositories that the installation of this client reaches. */
export async function listRepositories(octokit: Octokit): Promise<readonly Repository[]> {
  const found = await github(message`list the repositories of the installation`, () =>
    octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 }),
  )
  return found.map(answer => ({
    id: answer.id,
    owner: answer.owner.login,
    repo: answer.name,
    url: normaliseUrl(answer.html_url),
    defaultBranch: answer.default_branch,
    archived: answer.archived,
    createdAt: answer.created_at ?? '',
    visibility: visibilityOf(answer),
    pushedAt: answer.pushed_at,
  }))
}
