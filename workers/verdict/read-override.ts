import type { PullRequest } from '../../src/github/pull-request.ts'
import type { Circumstances } from '../../src/report/circumstances.ts'
import type { WorkerContext } from '../worker-context.ts'
import type { Subject } from './judge-pull-request.ts'

/** Which fleet admin lets the present head of a pull request pass, if one does. */
export async function readOverride(
  _context: WorkerContext,
  _subject: Subject,
  _pull: PullRequest,
): Promise<Circumstances['override']> {
  return undefined
}
