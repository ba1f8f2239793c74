import { BailiwickError } from '../../src/errors.ts'
import { CHECK_NAME } from '../../src/gate/check-names.ts'
import { readRepository } from '../../src/github/contents/read-repository.ts'
import { readRole } from '../../src/github/people/permission.ts'
import { readOffer } from '../../src/github/pulls/read-offer.ts'
import { normaliseUrl } from '../../src/kube/url.ts'
import { starterFiles } from '../../src/onboard/starter/starter-files.ts'
import { starterText } from '../../src/onboard/starter/starter-text.ts'
import { openPlace } from '../publish/open-place.ts'
import { openRecordedPull } from '../trail/recorded-writes.ts'
import type { AccessQuestion } from './plan-read-access.ts'

/**
 * Opens the pull request in the repository of a new tenant, where its request asks for one; says in Markdown what became of it.
 * Only where the App is installed and the person who asks is an admin. It is opened once: a closed one stays closed.
 */
export async function openStarter(question: AccessQuestion): Promise<string | undefined> {
  const { context, reader, installation, fleet, prepared, by } = question
  const { request } = prepared
  if (request.starter === undefined) return undefined
  const url = normaliseUrl(request.url)
  const repository = (await installation.repositories()).find(one => one.url === url)
  if (!repository) return no('the App is not installed on that repository.')
  if (repository.id === fleet.id) return no('the tenant lives in the repository of the fleet.')
  if (request.ref) return no('the tenant does not follow a branch.')
  const name = { owner: repository.owner, repo: repository.name }
  // the list may be old, and a name may belong to another repository since
  const found = await readRepository(reader, name)
  if (found?.id !== repository.id) return no('the App is not installed on that repository.')
  if ((await readRole(reader, name, by)) !== 'admin') return no('the author does not administer that repository.')
  const place = await openPlace(context, { installation: installation.id, ...name }, repository.id)
  const where = { base: request.branch, branch: `bailiwick/start-${request.tenant}` }
  const offer = await readOffer(place.octokit, place.app, name, where)
  if (offer.state === 'closed') return no('it was opened before, and people closed or merged it.')
  const commit = await installation.head(repository, { branch: request.branch })
  if (!commit) return no('that repository does not have the branch yet.')
  const { entries } = await installation.content(repository, commit)
  const files = starterFiles(
    request,
    entries.map(({ path }) => path),
  )
  if (files.length === 0) return no('the repository has these files already.')
  const { title, body } = starterText(
    request,
    files.map(({ path }) => path),
    CHECK_NAME,
  )
  try {
    const opened = await openRecordedPull(
      { context, app: place.app, fleet: { installation: installation.id, url: fleet.url } },
      place.octokit,
      name,
      {
        ...where,
        files,
        title,
        body,
        message: title,
      },
    )
    return `The pull request for the tenant's repository: ${opened.url}`
  } catch (error) {
    // people use a branch of that name, or the files came in meanwhile
    if (error instanceof BailiwickError && error.code === 'onboard-input') return no(`${error.message}.`)
    throw error
  }
}

const no = (why: string) => `No pull request was opened in the tenant's repository: ${why}`
