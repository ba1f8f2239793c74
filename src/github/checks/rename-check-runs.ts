import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Which runs are renamed, and what they are called then. */
interface Renaming {
  readonly headSha: string
  readonly from: string
  readonly to: string
}

/**
 * Gives all our check runs of a name on a commit another one: they satisfy no rule that requires the old one. What they
 * concluded stays; what is not completed is cancelled. The latest is renamed last: none that is older counts in between.
 */
export async function renameCheckRuns(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  { headSha, from, to }: Renaming,
): Promise<void> {
  const what = message`rename the check runs of ${repositoryPart({ owner, repo })}`
  const filter = { check_name: from, app_id: app.id, filter: 'all', per_page: 100 } as const
  const found = await github(what, () =>
    octokit.paginate(octokit.rest.checks.listForRef, { owner, repo, ref: headSha, ...filter }),
  )
  const ours = found.filter(run => run.app?.id === app.id && run.head_sha === headSha && run.name === from)
  for (const { id, status } of ours.sort((a, b) => a.id - b.id)) {
    const end = status === 'completed' ? {} : ({ conclusion: 'cancelled' } as const)
    await github(what, () => octokit.rest.checks.update({ owner, repo, check_run_id: id, name: to, ...end }))
  }
}
