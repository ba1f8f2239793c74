import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from './publish-verdict.ts'

/**
 * A client that can write to one repository only. Evaluations use another token without write access, so the content of
 * a change cannot cause a write to another repository.
 */
export async function openWriteClient(
  { app }: WorkerContext,
  installation: number,
  repositoryId: number,
): Promise<Pick<PublishTarget, 'octokit' | 'app'>> {
  const [octokit, identity] = await Promise.all([app.client(installation, [repositoryId]), app.identity()])
  return { octokit, app: identity }
}
