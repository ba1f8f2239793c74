import { BailiwickError } from '../../src/errors.ts'
import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import type { Outcome } from '../../src/report/outcome.ts'
import { decisionOf } from './decision-of.ts'
import type { JudgedPull } from './judge-with-circumstances.ts'
import type { Said } from './said.ts'

/**
 * What is said of a commit that is the head of these open pull requests, each evaluated onto its own base. GitHub keeps check
 * runs by commit, and one that passes lets every one of them be merged, so the worst verdict is said; whichever of them it
 * is reached from, it is the same one. One that GitHub cannot merge anyway holds back nobody else. Needs at least one.
 */
export function worstOfHead(judged: readonly [JudgedPull, ...JudgedPull[]]): Said {
  const mergeable = judged.filter(({ said }) => !isUnmergeable(said.outcome))
  const all = mergeable.length > 0 ? mergeable : judged
  const [worst] = [...all].sort((a, b) => weight(b.said) - weight(a.said) || a.pull.number - b.pull.number)
  const { pull, said } = worst!
  return judged.length > 1 && weight(said) > 0 ? inPlaceOfOthers(said, pull.number) : said
}

/** What is said to a pull request itself: its own verdict, and which other one, or which base, holds its head back. */
export function withWorse(own: JudgedPull, shown: Said): Said {
  const { worse, worseBase } = shown.context.circumstances ?? NO_CIRCUMSTANCES
  const others = worse.filter(number => number !== own.pull.number)
  if (others.length === 0 && worseBase === undefined) return own.said
  const more = { worse: others, ...(worseBase === undefined ? {} : { worseBase }) }
  const circumstances = { ...NO_CIRCUMSTANCES, ...own.said.context.circumstances, ...more }
  return { ...own.said, context: { ...own.said.context, circumstances } }
}

function inPlaceOfOthers(said: Said, number: number): Said {
  const circumstances = { ...NO_CIRCUMSTANCES, ...said.context.circumstances, worse: [number] }
  return { ...said, context: { ...said.context, circumstances } }
}

/** The most severe of what pull requests of a head came to, and of what merging it elsewhere would give. */
export function worstOfBases(said: Said, led: readonly LedVerdict[]): Said {
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

/** What merging a head into a base would give that it has no open pull request onto. */
export interface LedVerdict {
  readonly base: string
  readonly said: Said
}

const weight = (said: Said) => decisionOf(said).severity

const isUnmergeable = (outcome: Outcome) => outcome instanceof BailiwickError && outcome.code === 'merge-conflict'
