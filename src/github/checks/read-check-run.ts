import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A check run of ours, by its id. */
interface OurCheckRun {
  readonly name: string
  readonly headSha: string
}

/** The check run, where it is there and our App wrote it. */
export async function readCheckRun(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  id: number,
): Promise<OurCheckRun | undefined> {
  const found = await unlessMissing(message`read check run ${id} of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.checks.get({ owner, repo, check_run_id: id }),
  )
  if (found?.data.app?.id !== app.id) return undefined
  return { name: found.data.name, headSha: found.data.head_sha }
}
