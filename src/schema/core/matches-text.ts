import { BailiwickError } from '../../errors.ts'
import { containsPattern, type StepBudget } from '../../kustomize/select/pattern.ts'
import type { Origin } from '../../origin.ts'

/** Of one text; patterns and texts of ecosystem projects need some thousands. */
const MAX_STEPS = 1_000_000
/** Answers that are kept for one pattern: most texts stand in many objects. */
const KEPT = 1_000

const NOWHERE: Origin = { repository: '', file: '', line: 1, column: 1 }
const answers = new Map<string, Map<string, boolean | undefined>>()

/** Whether a part of a text matches a pattern as Go matches it; undefined where that cannot be said. */
export function matchesText(pattern: string, text: string): boolean | undefined {
  const known = answers.get(pattern) ?? new Map<string, boolean | undefined>()
  if (!answers.has(pattern)) {
    if (answers.size > KEPT) answers.clear()
    answers.set(pattern, known)
  }
  if (known.has(text)) return known.get(text)
  const answer = ask(pattern, text)
  if (known.size > KEPT) known.clear()
  known.set(text, answer)
  return answer
}

function ask(pattern: string, text: string): boolean | undefined {
  let left = MAX_STEPS
  const budget: StepBudget = {
    spend(_what, amount) {
      left -= amount
      if (left < 0) throw new BailiwickError('render-limits', 'the pattern needs too many steps')
    },
  }
  try {
    return containsPattern({ text: pattern, origin: NOWHERE }, text, budget)
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}
