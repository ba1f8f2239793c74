import { credentialEntries, type KnownKeys } from '../../src/credentials/credential-entries.ts'
import type { CredentialReport } from '../../src/credentials/credential-report.ts'
import { credentialsText } from '../../src/credentials/credentials-text.ts'
import { BailiwickError } from '../../src/errors.ts'
import { type ListedDeployKey, listDeployKeys } from '../../src/github/keys/deploy-keys.ts'
import { readCredentials } from '../fleets/read-credentials.ts'
import { keepCredentialsPage } from '../publish/keep-credentials-page.ts'
import type { BailiwickCommand, CommandContext } from './command-context.ts'
import { decidesHere } from './fleets-here.ts'

/** Repositories whose keys are listed: those that tenants read first. */
const MAX_REPOSITORIES = 200

/** Lists the credentials of the tenants: what git says, and the deploy keys that GitHub shows. */
export const credentials: BailiwickCommand = {
  name: 'credentials',
  decision: 'none',
  usage: 'credentials',
  summary:
    'list deploy keys without a tenant, tenants without a key, their age, and who can open sealed files (fleet admins)',
  where: 'anywhere',
  slow: true,
  may: decidesHere,
  refusal: 'The credentials cannot be listed',
  run: async command => {
    const { context, installation, repository: fleet, place, today } = command
    const { report, commit } = await readCredentials({ context, installation, fleet })
    const entries = credentialEntries(report, await knownKeys(command, report), today)
    const address = await keepCredentialsPage(context, { owner: place.owner, repo: place.repo, fleet, commit }, entries)
    const page =
      address === undefined
        ? ''
        : `\n\n[All of them, with filters](${address}), for maintainers and admins of this repository.`
    return { reaction: 'rocket', reply: `${credentialsText(entries)}${page}` }
  },
}

async function knownKeys(command: CommandContext, { sources }: CredentialReport): Promise<KnownKeys> {
  const { installation, reader, place } = command
  const read = new Set(sources.map(({ url }) => url))
  const all = [...(await installation.repositories())].sort((a, b) => Number(read.has(b.url)) - Number(read.has(a.url)))
  const repositories = new Map<string, readonly ListedDeployKey[]>()
  const notVisible: string[] = []
  for (const { owner, name: repo, url } of all.slice(0, MAX_REPOSITORIES)) {
    try {
      repositories.set(url, await listDeployKeys(reader, { owner, repo }))
    } catch (error) {
      if (!(error instanceof BailiwickError) || (error.code !== 'not-permitted' && error.code !== 'git-missing'))
        throw error
      // of a repository that no tenant reads nobody here has to know the name
      if (!read.has(url)) notVisible.push('deploy keys of a repository that no tenant reads: the App may not list them')
    }
  }
  if (all.length > MAX_REPOSITORIES) {
    notVisible.push(
      `deploy keys of ${all.length - MAX_REPOSITORIES} more repositories: only ${MAX_REPOSITORIES} are listed`,
    )
  }
  return { fleet: `${place.owner}/${place.repo}`, repositories, notVisible: [...new Set(notVisible)] }
}
