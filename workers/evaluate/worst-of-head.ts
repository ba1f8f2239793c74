import { BailiwickError } from '../../src/errors.ts'
import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import type { Outcome } from '../../src/report/outcome.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { decisionOf } from './decision-of.ts'
import type { EvaluatedPull } from './evaluate-with-circumstances.ts'

/**
 * Returns the most severe outcome of the open pull requests that share head and base. GitHub keeps check runs per
 * commit, so a passing one would let all of them merge; the result is the same for whichever of them is evaluated. Pull
 * requests that GitHub cannot merge do not block the others. Needs at least one.
 */
export function worstOfHead(evaluated: readonly [EvaluatedPull, ...EvaluatedPull[]]): CommitOutcome {
  const mergeable = evaluated.filter(({ said }) => !isUnmergeable(said.outcome))
  const all = mergeable.length > 0 ? mergeable : evaluated
  const [worst] = [...all].sort((a, b) => weight(b.said) - weight(a.said) || a.pull.number - b.pull.number)
  const { pull, said } = worst!
  return evaluated.length > 1 && weight(said) > 0 ? inPlaceOfOthers(said, pull.number) : said
}

/** The outcome for a pull request itself: its own verdict, and which other pull request blocks its head. */
export function withWorse(own: EvaluatedPull, shown: CommitOutcome): CommitOutcome {
  const worse = shown.context.circumstances?.worse.filter(number => number !== own.pull.number) ?? []
  if (worse.length === 0) return own.said
  const circumstances = { ...NO_CIRCUMSTANCES, ...own.said.context.circumstances, worse }
  return { ...own.said, context: { ...own.said.context, circumstances } }
}

function inPlaceOfOthers(said: CommitOutcome, number: number): CommitOutcome {
  const circumstances = { ...NO_CIRCUMSTANCES, ...said.context.circumstances, worse: [number] }
  return { ...said, context: { ...said.context, circumstances } }
}

const weight = (said: CommitOutcome) => decisionOf(said).severity

const isUnmergeable = (outcome: Outcome) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'
