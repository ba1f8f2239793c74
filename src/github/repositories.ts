import { normaliseUrl } from '../kube/url.ts'
import { github, unlessMissing } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

/** A repository that an installation reaches. `id` stays when it is renamed or moved; the names do not. */
export interface Repository extends RepositoryName {
  readonly id: number
  /** Normalised, as sources are compared. */
  readonly url: string
  readonly defaultBranch: string
  readonly archived: boolean
}

/** All repositories that the installation of this client reaches. */
export async function listRepositories(octokit: Octokit): Promise<readonly Repository[]> {
  const found = await github('list the repositories of the installation', () =>
    octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 }),
  )
  return found.map(toRepository)
}

/** The repository at an address as sources name it, in any of its spellings; undefined when it is none of these. */
export function findRepository(repositories: readonly Repository[], url: string): Repository | undefined {
  const wanted = normaliseUrl(url)
  return repositories.find(repository => repository.url === wanted)
}

/**
 * One repository, or undefined when there is none or the App may not see it. Where it has been renamed the answer carries
 * the name of today: compare `id` with what was known before trusting an old name.
 */
export async function readRepository(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
): Promise<Repository | undefined> {
  const found = await unlessMissing(`read repository ${owner}/${repo}`, () => octokit.rest.repos.get({ owner, repo }))
  return found && toRepository(found.data)
}

interface RepositoryAnswer {
  readonly id: number
  readonly name: string
  readonly owner: { readonly login: string }
  readonly html_url: string
  readonly default_branch: string
  readonly archived: boolean
}

function toRepository(answer: RepositoryAnswer): Repository {
  return {
    id: answer.id,
    owner: answer.owner.login,
    repo: answer.name,
    url: normaliseUrl(answer.html_url),
    defaultBranch: answer.default_branch,
    archived: answer.archived,
  }
}
