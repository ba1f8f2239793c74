import type { PullRequest } from '../../src/github/pull-request.ts'
import type { Circumstances } from '../../src/report/circumstances.ts'
import type { Subject } from './judge-pull-request.ts'

/** Who holds a pull request, if anybody does. */
export async function readHold(_subject: Subject, _pull: PullRequest): Promise<Circumstances['hold']> {
  return undefined
}
