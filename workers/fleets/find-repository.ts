import type { RepositoryName } from '../../src/github/client/octokit.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import { nameInAddress } from './name-in-address.ts'

type Names = Pick<Installation, 'repositories' | 'leadsTo'>

/**
 * The repository of an installation to which a normalised address leads, also one that it had before (GitHub leads on from
 * it, and so Flux goes on deploying), or by the name that GitHub's events give it; undefined where the App may not read it.
 */
export async function findRepository(
  installation: Names,
  wanted: { readonly url: string } | RepositoryName,
): Promise<ReadableRepository | undefined> {
  const repositories = await installation.repositories()
  if (!('url' in wanted)) return repositories.find(one => one.owner === wanted.owner && one.name === wanted.repo)
  const present = repositoryAt(repositories, wanted.url)
  if (present) return present
  const id = await idAt(installation, wanted.url)
  return repositories.find(one => one.id === id)
}

/** The repository that has this address now; GitHub compares names in any case, wherever it runs. */
export function repositoryAt(repositories: readonly ReadableRepository[], url: string): ReadableRepository | undefined {
  return (
    repositories.find(one => one.url === url) ?? repositories.find(one => one.url.toLowerCase() === url.toLowerCase())
  )
}

/** GitHub's id of whatever an address leads to; undefined where nothing answers, or it is not on the installation's server. */
export async function idAt(installation: Names, url: string): Promise<number | undefined> {
  const [first] = await installation.repositories()
  const named = nameInAddress(url)
  if (!first || !named || !first.url.startsWith(`${named.server}/`)) return undefined
  return installation.leadsTo({ owner: named.owner, repo: named.repo })
}
