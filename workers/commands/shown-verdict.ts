import { BailiwickError } from '../../src/errors.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { evaluatePullRequest } from '../evaluate/evaluate-pull-request.ts'
import type { Said } from '../evaluate/said.ts'
import { presentPull, subjectOf } from './present-pull.ts'
import type { Asking } from './verb.ts'

/** A pull request evaluated as it stands. */
interface ShownVerdict {
  readonly pull: PullRequest
  readonly said: Said
  /** What the readers of this repository may see of the verdict; absent where there is none. */
  readonly verdict?: Verdict
}

/** Evaluates the pull request of a command now; cached results are reused. Throws as presentPull does. */
export async function shownVerdict(asking: Asking): Promise<ShownVerdict> {
  const pull = await presentPull(asking)
  const said = await evaluatePullRequest(asking.context, subjectOf(asking), pull, asking.attempt)
  const { outcome, context } = said
  if (outcome === undefined || outcome instanceof BailiwickError) return { pull, said }
  return { pull, said, verdict: viewFor(outcome, context.audience, context.repository, context.nodes).verdict }
}
