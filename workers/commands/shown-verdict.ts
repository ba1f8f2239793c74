import { BailiwickError } from '../../src/errors.ts'
import type { PullRequest } from '../../src/github/pulls/pull-request.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import type { CommitOutcome } from '../evaluate/commit-outcome.ts'
import { evaluatePullRequest } from '../evaluate/evaluate-pull-request.ts'
import type { CommandContext } from './command-context.ts'
import { presentPull, subjectOf } from './present-pull.ts'

/** A pull request evaluated as it stands. */
interface ShownVerdict {
  readonly pull: PullRequest
  readonly evaluated: CommitOutcome
  /** What the readers of this repository may see of the verdict; absent where there is none. */
  readonly verdict?: Verdict
}

/** Evaluates the pull request of a command now; cached results are reused. Throws as presentPull does. */
export async function shownVerdict(command: CommandContext): Promise<ShownVerdict> {
  const pull = await presentPull(command)
  const evaluated = await evaluatePullRequest(command.context, subjectOf(command), pull, command.attempt)
  const { outcome, context } = evaluated
  if (outcome === undefined || outcome instanceof BailiwickError) return { pull, evaluated }
  return { pull, evaluated, verdict: viewFor(outcome, context.audience, context.repository, context.nodes).verdict }
}
