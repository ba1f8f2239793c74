import { BailiwickError } from '../../src/errors.ts'
import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import type { Outcome } from '../../src/report/outcome.ts'
import type { CommitOutcome } from './commit-outcome.ts'
import { decisionOf } from './decision-of.ts'
import type { EvaluatedPull } from './evaluate-with-circumstances.ts'

/**
 * Returns the most severe outcome of the open pull requests that share a head commit. GitHub keeps check runs per
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

/** The outcome for a pull request itself: its own verdict, and which other pull request or base blocks its head. */
export function withWorse(own: EvaluatedPull, shown: CommitOutcome): CommitOutcome {
  const { worse, worseBase } = shown.context.circumstances ?? NO_CIRCUMSTANCES
  const others = worse.filter(number => number !== own.pull.number)
  if (others.length === 0 && worseBase === undefined) return own.said
  const more = { worse: others, ...(worseBase === undefined ? {} : { worseBase }) }
  const circumstances = { ...NO_CIRCUMSTANCES, ...own.said.context.circumstances, ...more }
  return { ...own.said, context: { ...own.said.context, circumstances } }
}

function inPlaceOfOthers(said: CommitOutcome, number: number): CommitOutcome {
  const circumstances = { ...NO_CIRCUMSTANCES, ...said.context.circumstances, worse: [number] }
  return { ...said, context: { ...said.context, circumstances } }
}

/** Returns the most severe outcome of the pull requests of a head and of its merges into other bases. */
export function worstOfBases(said: CommitOutcome, led: readonly LedVerdict[]): CommitOutcome {
  let worst = said
  let base: string | undefined
  for (const one of led) {
    if (weight(one.said) <= weight(worst)) continue
    worst = one.said
    base = one.base
  }
  if (base === undefined) return said
  const circumstances = { ...NO_CIRCUMSTANCES, ...worst.context.circumstances, worseBase: base }
  return { ...worst, context: { ...worst.context, circumstances } }
}

/** The outcome of merging a head into a base without an open pull request. */
export interface LedVerdict {
  readonly base: string
  readonly said: CommitOutcome
}

const weight = (said: CommitOutcome) => decisionOf(said).severity

const isUnmergeable = (outcome: Outcome) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'
