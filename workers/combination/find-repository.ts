import type { RepositoryName } from '../../src/github/octokit.ts'
import type { Installation, ReadableRepository } from './installation.ts'

/** The repository of an installation at a normalised address, or by the name that GitHub's events give it; undefined where the App may not read it. */
export async function findRepository(
  installation: Pick<Installation, 'repositories'>,
  wanted: { readonly url: string } | RepositoryName,
): Promise<ReadableRepository | undefined> {
  const repositories = await installation.repositories()
  if ('url' in wanted) return repositories.find(one => one.url === wanted.url)
  return repositories.find(one => one.owner === wanted.owner && one.name === wanted.repo)
}
