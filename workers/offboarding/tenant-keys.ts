import { isTitleOf } from '../../src/credentials/deploy-key-title.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/keys/deploy-keys.ts'
import { removeRecordedKey } from '../trail/recorded-writes.ts'
import type { OffboardingPlace } from './offboarding-place.ts'

/** Keys of a repository that are this tenant's by their title. */
export async function keysOfTenant(
  { reader, place }: Pick<OffboardingPlace, 'reader' | 'place'>,
  repository: RepositoryName,
  tenant: string,
): Promise<ListedDeployKey[]> {
  const owner = { tenant, fleet: `${place.owner}/${place.repo}` }
  return (await listDeployKeys(reader, repository)).filter(one => one.readOnly && isTitleOf(one.title, owner))
}

/** Deletes keys of a repository; those that are gone already are no error. */
export async function removeKeys(
  { context, installation, place, fleet }: OffboardingPlace,
  repository: RepositoryName & { readonly id: number },
  keys: readonly string[],
): Promise<void> {
  const act = { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } }
  await context.app.administer(installation.id, repository.id, async octokit => {
    for (const key of keys) await removeRecordedKey(act, octokit, repository, key)
  })
}
