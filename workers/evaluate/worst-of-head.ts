import { BailiwickError } from '../../src/errors.ts'
import { NO_DECISIONS } from '../../src/gate/circumstances.ts'
import type { Outcome } from '../../src/report/outcome.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { decisionOf } from './decision-of.ts'
import type { EvaluatedPull } from './evaluate-with-circumstances.ts'

/**
 * Returns the most severe outcome of the open pull requests that share head and base. GitHub keeps check runs per
 * commit, so a passing one would let all of them merge; the result is the same for whichever of them is evaluated. Pull
 * requests that GitHub cannot merge do not block the others. Needs at least one.
 */
export function worstOfHead(pulls: readonly [EvaluatedPull, ...EvaluatedPull[]]): CommitOutcome {
  const mergeable = pulls.filter(({ evaluated }) => !isUnmergeable(evaluated.outcome))
  const all = mergeable.length > 0 ? mergeable : pulls
  const [worst] = [...all].sort((a, b) => weight(b.evaluated) - weight(a.evaluated) || a.pull.number - b.pull.number)
  const { pull, evaluated } = worst!
  return pulls.length > 1 && weight(evaluated) > 0 ? inPlaceOfOthers(evaluated, pull.number) : evaluated
}

/** The outcome for a pull request itself: its own verdict, and which other pull request blocks its head. */
export function withWorse(own: EvaluatedPull, shown: CommitOutcome): CommitOutcome {
  const worse = shown.context.decisions?.worse.filter(number => number !== own.pull.number) ?? []
  if (worse.length === 0) return own.evaluated
  const decisions = { ...NO_DECISIONS, ...own.evaluated.context.decisions, worse }
  return { ...own.evaluated, context: { ...own.evaluated.context, decisions } }
}

function inPlaceOfOthers(evaluated: CommitOutcome, number: number): CommitOutcome {
  const decisions = { ...NO_DECISIONS, ...evaluated.context.decisions, worse: [number] }
  return { ...evaluated, context: { ...evaluated.context, decisions } }
}

const weight = (evaluated: CommitOutcome) => decisionOf(evaluated).severity

const isUnmergeable = (outcome: Outcome) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'
