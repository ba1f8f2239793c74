import type { SettleChecks } from '../src/queue/queue.ts'
import { findRepository } from './combination/find-repository.ts'
import { githubInstallation } from './combination/github-installation.ts'
import { readBases } from './gate/repository-bases.ts'
import { settleRepository } from './gate/settle-repository.ts'
import { stalenessOfChecks } from './staleness/staleness.ts'
import type { WorkerContext } from './worker-context.ts'

/** What becomes gated leaves many pull requests behind: they start this far apart. */
const SPREAD_MS = 300
const LATEST_MS = 60_000

/**
 * Brings the checks of one repository in line with its gated bases, which are others since a push or a deleted branch: what
 * counts no more is renamed, what is about other bases begins again at once, then what has no verdict is evaluated.
 */
export async function settleChecks(context: WorkerContext, data: SettleChecks): Promise<void> {
  const { installation: id, owner, repo } = data
  const octokit = await context.app.reader(id)
  const installation = githubInstallation(context, id, octokit)
  const repository = await findRepository(installation, { owner, repo })
  if (!repository || repository.archived) return
  const subject = { installation, repository, octokit }
  const settled = await settleRepository(context, subject, await readBases(context, subject))
  const missing = settled.filter(
    ({ checks, runs }) => checks.length > 0 && stalenessOfChecks(checks, runs).staleness === 'missing',
  )
  for (const [index, { pull }] of missing.entries()) {
    const delayMs = Math.min(index * SPREAD_MS, LATEST_MS)
    await context.queue.add('validate-pull-request', { installation: id, owner, repo, pull: pull.number }, { delayMs })
  }
}
