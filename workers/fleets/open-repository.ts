import type { Octokit, RepositoryName } from '../../src/github/client/octokit.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { findRepository } from './find-repository.ts'
import { githubInstallation } from './github-installation.ts'

/**
 * The repository that a job is about, as its installation reads it; undefined where the App may not read it. `octokit`: the
 * reader, where the caller has it already. What is written takes another token, see openPlace.
 */
export async function openRepository(
  context: WorkerContext,
  { installation: id, owner, repo }: RepositoryName & { readonly installation: number },
  octokit?: Octokit,
): Promise<OpenedRepository | undefined> {
  const reader = octokit ?? (await context.app.reader(id))
  const installation = githubInstallation(context, id, reader)
  const repository = await findRepository(installation, { owner, repo })
  return repository && { installation, repository, octokit: reader }
}
