import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from './say-verdict.ts'

/**
 * With what something is said on one repository: a token that reaches no other one. What is evaluated is read with another
 * token, which may write nowhere; so nothing that a change holds can lead to a write on a repository of others.
 */
export async function speaker(
  { app }: WorkerContext,
  installation: number,
  repositoryId: number,
): Promise<Pick<PublishTarget, 'octokit' | 'app'>> {
  const [octokit, identity] = await Promise.all([app.client(installation, [repositoryId]), app.identity()])
  return { octokit, app: identity }
}
