import type { OpenedRepository } from '../context/opened-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import { readBases } from './repository-bases.ts'
import { settleRepository } from './settle-repository.ts'
import { stalenessOfChecks } from './staleness.ts'

/** What becomes gated leaves many pull requests behind: they start this far apart. */
const SPREAD_MS = 300
const LATEST_MS = 60_000

/** Updates the checks of a repository, then enqueues an evaluation of every pull request that lost its verdict. */
export async function settleAndAsk(context: WorkerContext, subject: OpenedRepository): Promise<void> {
  const { installation, repository } = subject
  const settled = await settleRepository(context, subject, await readBases(context, subject))
  const missing = settled.filter(
    ({ checks, runs }) => checks.length > 0 && stalenessOfChecks(checks, runs).staleness === 'missing',
  )
  const name = { installation: installation.id, owner: repository.owner, repo: repository.name }
  for (const [index, { pull }] of missing.entries()) {
    const delayMs = Math.min(index * SPREAD_MS, LATEST_MS)
    await context.queue.add('validate-pull-request', { ...name, pull: pull.number }, { delayMs })
  }
}
