import type { CredentialEntry } from '../../src/credentials/credential-entries.ts'
import { ENTRY_TITLES } from '../../src/credentials/credentials-text.ts'
import type { RepositoryName } from '../../src/github/client/octokit.ts'
import { credentialsPath } from '../../src/pages/page-address.ts'
import { type CredentialGroup, credentialsPageOf } from '../../src/report/page/credentials-page.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'

/** The fleet whose credentials are listed, and the commit of its branch. */
interface ListedFleet extends RepositoryName {
  readonly fleet: ReadableRepository
  readonly commit: string
}

const TONES: Readonly<Record<CredentialEntry['kind'], CredentialGroup['tone']>> = {
  'in-clear': 'bad',
  'key-of-no-tenant': 'bad',
  'writable-key': 'bad',
  'tenant-without-key': 'bad',
  'several-keys': 'bad',
  'other-recipients': 'bad',
  key: 'good',
  'not-visible': 'note',
}

/** Stores the page of a fleet's credentials and returns its address; undefined if pages are disabled or storing failed. */
export async function keepCredentialsPage(
  { pages: { store, publicUrl }, log }: WorkerContext,
  { owner, repo, fleet, commit }: ListedFleet,
  entries: readonly CredentialEntry[],
): Promise<string | undefined> {
  if (publicUrl === undefined) return undefined
  const groups = (Object.keys(ENTRY_TITLES) as CredentialEntry['kind'][]).map(kind => ({
    ...{ kind, title: ENTRY_TITLES[kind], tone: TONES[kind] },
    rows: entries.filter(one => one.kind === kind).map(({ kind: _kind, ...row }) => row),
  }))
  const place = { owner, repo, repositoryId: fleet.id, visibility: fleet.visibility, at: new Date().toISOString() }
  const page = credentialsPageOf({ ...place, repository: fleet.url, commit, groups })
  const kept = await store.keep(page).catch(err => {
    log.warn({ err }, 'page could not be stored')
    return false
  })
  return kept ? `${publicUrl}${credentialsPath(owner, repo)}` : undefined
}
