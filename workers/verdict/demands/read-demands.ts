import type { PullRequest } from '../../../src/github/pull-request.ts'
import type { Demand } from '../../../src/report/circumstances.ts'
import type { WorkerContext } from '../../worker-context.ts'
import type { Subject } from '../judge-pull-request.ts'

/** What a pull request asks somebody with more rights to agree to, and nobody did yet. */
export async function readDemands(
  _context: WorkerContext,
  _subject: Subject,
  _pull: PullRequest,
): Promise<readonly Demand[]> {
  return []
}
