import type { OrganizationFile } from '../../src/designation/designate.ts'
import {
  DESIGNATION_FILE,
  ORGANIZATION_REPOSITORY,
  readDesignationFile,
} from '../../src/designation/designation-file.ts'
import { namesRepository } from '../../src/designation/fleet-name.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Installation } from '../context/installation.ts'

/**
 * What the organization's own `.github` repository designates. Absent where the App is not installed on it, or it has no
 * such file; unreadable where the file says nothing that can be followed. Throws `github-unavailable`.
 */
export async function readOrganizationFile(installation: Installation): Promise<OrganizationFile> {
  const repositories = await installation.repositories()
  const organization = repositories.find(({ name }) => name.toLowerCase() === ORGANIZATION_REPOSITORY)
  if (!organization) return { state: 'absent' }
  try {
    const bytes = await installation.file(organization, DESIGNATION_FILE)
    if (!bytes) return { state: 'absent' }
    const names = readDesignationFile(organization.url, bytes)
    const fleets = names.map(name => {
      const repository = repositories.find(({ url }) => namesRepository(name, url))
      if (!repository) throw unknown(name.repository)
      return { repository: repository.id, ...(name.branch === undefined ? {} : { branch: name.branch }) }
    })
    return { state: 'present', fleets }
  } catch (error) {
    if (!(error instanceof BailiwickError) || ['github-unavailable', 'internal'].includes(error.code)) throw error
    return { state: 'unreadable', why: error.message }
  }
}

function unknown(repository: string): BailiwickError {
  return new BailiwickError(
    'config',
    `${DESIGNATION_FILE} names ${JSON.stringify(repository)}, which the App cannot read`,
  )
}
