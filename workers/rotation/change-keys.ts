import { deployKeyTitle, isTitleOf } from '../../src/credentials/deploy-key-title.ts'
import type { RotationRecord } from '../../src/credentials/rotation-record.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/keys/deploy-keys.ts'
import { addRecordedKey, removeRecordedKey } from '../trail/recorded-writes.ts'
import type { RotationPlace } from './rotation-question.ts'

/** The fleet and the services that a key change needs. */
type KeyDesk = Pick<RotationPlace, 'context' | 'installation' | 'place' | 'fleet'>

const actOf = ({ context, installation, place, fleet }: KeyDesk) => ({
  ...{ context, app: place.app, fleet: { installation: installation.id, url: fleet.url } },
})

/** The repository of a rotation by its present name; undefined where the App may not see it any more. */
export async function keyRepository(
  { installation }: Pick<RotationPlace, 'installation'>,
  id: number,
): Promise<RepositoryName | undefined> {
  const found = (await installation.repositories()).find(one => one.id === id)
  return found && { owner: found.owner, repo: found.name }
}

/** Keys of a repository that are this tenant's by their title. */
export async function keysOfTenant(
  { reader, place }: Pick<RotationPlace, 'reader' | 'place'>,
  repository: RepositoryName,
  tenant: string,
): Promise<ListedDeployKey[]> {
  const owner = { tenant, fleet: `${place.owner}/${place.repo}` }
  return (await listDeployKeys(reader, repository)).filter(one => one.readOnly && isTitleOf(one.title, owner))
}

/** Adds the new key of a rotation; one that is there stays. False: GitHub refuses it. */
export async function addNewKey(
  desk: KeyDesk,
  repository: RepositoryName,
  record: RotationRecord,
  how: string,
): Promise<boolean> {
  const { context, installation, place } = desk
  const title = deployKeyTitle({ tenant: record.tenant, fleet: `${place.owner}/${place.repo}` }, how)
  return context.app.administer(installation.id, record.repository, octokit =>
    addRecordedKey(actOf(desk), octokit, repository, { title, key: record.key }),
  )
}

/** Deletes keys of a repository; those that are gone already are no error. */
export async function removeKeys(
  desk: KeyDesk,
  repository: RepositoryName & { readonly id: number },
  keys: readonly string[],
): Promise<void> {
  const { context, installation } = desk
  await context.app.administer(installation.id, repository.id, async octokit => {
    for (const key of keys) await removeRecordedKey(actOf(desk), octokit, repository, key)
  })
}
