import type { SettleChecks } from '../src/queue/queue.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { settleAndAsk } from './gate/settle-and-ask.ts'
import type { WorkerContext } from './worker-context.ts'

/**
 * Brings the checks of one repository in line with its gated bases, which are others since a push or a deleted branch: what
 * counts no more is renamed, what is about other bases begins again at once, then what has no verdict is evaluated.
 */
export async function settleChecks(context: WorkerContext, data: SettleChecks): Promise<void> {
  const octokit = await context.app.reader(data.installation)
  const installation = githubInstallation(context, data.installation, octokit)
  const repository = await findRepository(installation, { owner: data.owner, repo: data.repo })
  if (repository && !repository.archived) await settleAndAsk(context, { installation, repository, octokit })
}
