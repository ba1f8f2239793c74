import type { RepositoryName } from '../../src/github/client/octokit.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { openWriteClient } from './open-write-client.ts'
import type { PublishTarget } from './publish-verdict.ts'

/** Opens the repository of a job for writing, with a token that is limited to it. */
export async function openPlace(
  context: WorkerContext,
  { installation, owner, repo }: RepositoryName & { readonly installation: number },
  repositoryId: number,
): Promise<PublishTarget> {
  return { ...(await openWriteClient(context, installation, repositoryId)), owner, repo }
}
