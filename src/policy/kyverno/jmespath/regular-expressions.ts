import { CelBudgetError, CelError, CelUnknownError } from '../../../cel/cel-error.ts'
import { findRanges } from '../../../cel/kubernetes/find-matches.ts'
import type { RuleSteps } from './rule-steps.ts'
import { NotEvaluatedError, RuleError } from './values.ts'

/** Whether a Go regular expression matches anywhere in a text. */
export function findsPattern(pattern: string, text: string, steps: RuleSteps): boolean {
  return rangesOf(pattern, text, 1, steps).length > 0
}

/** Replaces all matches of a Go regular expression. */
export function replacePattern(pattern: string, text: string, to: string, steps: RuleSteps): string {
  const chars = [...text]
  let [made, last] = ['', 0]
  for (const [from, end] of rangesOf(pattern, text, Number.POSITIVE_INFINITY, steps)) {
    made += chars.slice(last, from).join('') + to
    last = end
    steps.spend(1 + to.length / 100)
  }
  return made + chars.slice(last).join('')
}

function rangesOf(
  pattern: string,
  text: string,
  limit: number,
  steps: RuleSteps,
): readonly (readonly [number, number])[] {
  try {
    return findRanges(pattern, [...text], limit, count => steps.spend(count / 10))
  } catch (error) {
    if (error instanceof CelError) throw new RuleError(error.message)
    if (error instanceof CelUnknownError || error instanceof CelBudgetError) throw new NotEvaluatedError(error.message)
    throw error
  }
}
