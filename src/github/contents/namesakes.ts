import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Slugs of other Apps with a check run of this name on a branch's head. Commit statuses need a permission that we do not ask for. */
export async function listNamesakes(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  check: { readonly branch: string; readonly name: string },
): Promise<string[]> {
  const ref = `heads/${check.branch}`
  const { data } = await github(message`read the check runs of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.checks.listForRef({ owner, repo, ref, check_name: check.name, filter: 'latest', per_page: 100 }),
  )
  const others = data.check_runs.filter(run => run.name === check.name && run.app?.id !== app.id)
  return [...new Set(others.map(run => run.app?.slug ?? 'unknown'))].sort()
}
