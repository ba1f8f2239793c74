import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** An issue that our App wrote; anybody with the role triage may have changed its text. */
export interface OurIssue {
  readonly number: number
  readonly body: string
  readonly open: boolean
}

/** The issues that our App wrote in a repository, oldest first; undefined where the repository has no issues. */
export async function listOurIssues(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
): Promise<readonly OurIssue[] | undefined> {
  const present = await unlessMissing(message`list the issues of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.issues.listForRepo, {
      ...{ owner, repo, state: 'all', creator: `${app.slug}[bot]`, per_page: 100 },
    }),
  )
  return present
    ?.filter(one => !one.pull_request && isOurs(app, one))
    .map(one => ({ number: one.number, body: plainLines(one.body), open: one.state === 'open' }))
    .sort((a, b) => a.number - b.number)
}

/** One of them as it is now; undefined where it is gone, or another author's. */
export async function readOurIssue(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  number: number,
): Promise<OurIssue | undefined> {
  const found = await unlessMissing(message`read issue ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.issues.get({ owner, repo, issue_number: number }),
  )
  if (!found || found.data.pull_request || !isOurs(app, found.data)) return undefined
  return { number, body: plainLines(found.data.body), open: found.data.state === 'open' }
}

const plainLines = (body: string | null | undefined) => (body ?? '').replaceAll('\r\n', '\n')
