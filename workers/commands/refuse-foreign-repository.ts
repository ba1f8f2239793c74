import { BailiwickError } from '../../src/errors.ts'
import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import { readRepository } from '../../src/github/contents/read-repository.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import type { Installation } from '../context/installation.ts'

/** Who asks, for which address, and whose fleet it is. */
interface RepositoryQuestion {
  readonly octokit: Octokit
  readonly installation: Installation
  readonly login: string
  readonly url: string
  readonly fleetUrl: string
}

/** Names that GitHub may lead on from are few; each is a request. */
const MOST_NAMES = 50

/**
 * Refuses a tenant for a repository that the person does not administer, under its present or an earlier name. A
 * repository that the App cannot read is not visible and is never applied. Throws `onboard-input`.
 */
export async function refuseForeignRepository(question: RepositoryQuestion): Promise<void> {
  const { octokit, login, url } = question
  const found = await resolve(question, url)
  if (!found) return
  // the name that it has now is not for everybody
  const role = await readRole(octokit, found, login)
  if (role !== 'admin') {
    throw new BailiwickError(
      'onboard-input',
      `${login} may not request a tenant for ${url}: the role there is ${role}`,
      {
        fix: 'Ask an admin of that repository to run this command.',
      },
    )
  }
  if (found.url === normaliseUrl(url)) return
  throw new BailiwickError('onboard-input', `${url} was renamed`, { fix: `Use its current name: ${found.url}` })
}

/**
 * Refuses a repository that is already the source of a tenant: `sources` are the addresses that the fleet follows,
 * possibly by an earlier name of the repository. Throws `onboard-input`.
 */
export async function refuseKnownRepository(question: RepositoryQuestion, sources: readonly string[]): Promise<void> {
  const wanted = await resolve(question, question.url)
  if (!wanted) return
  const known = new Set((await question.installation.repositories()).map(({ url }) => url))
  const other = [...new Set(sources.map(normaliseUrl))].filter(url => !known.has(url) && url !== wanted.url)
  if (other.length > MOST_NAMES) {
    const message = `the fleet follows ${other.length} repositories that the App cannot see: at most ${MOST_NAMES} can be compared with ${question.url}`
    throw new BailiwickError('onboard-input', message, { fix: 'Install the App on them, or remove their sources.' })
  }
  for (const url of other) {
    const found = await resolve(question, url)
    if (found?.id !== wanted.id) continue
    throw new BailiwickError('onboard-input', `${question.url} is already the source of a tenant, as ${url}`, {
      fix: 'A repository belongs to one tenant. Name another repository, or add a Kustomization to that tenant.',
    })
  }
}

/** The repository at an address of the fleet's own GitHub, by whatever name; undefined where the App may not read it. */
async function resolve({ octokit, fleetUrl }: RepositoryQuestion, url: string) {
  const name = nameOf(normaliseUrl(url), new URL(fleetUrl).host)
  return name && readRepository(octokit, name)
}

function nameOf(url: string, host: string): RepositoryName | undefined {
  const [, owner, repo] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(url) ?? []
  return owner !== undefined && repo !== undefined && new URL(url).host === host ? { owner, repo } : undefined
}
