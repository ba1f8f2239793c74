import { NotEvaluatedError } from './values.ts'

/** Budget of one rule for one object, across all of its expressions and lists. */
const MAX_STEPS = 200_000

/** Counts the steps of a rule for one object, so that no expression or object can cause unbounded work. */
export class RuleSteps {
  #left = MAX_STEPS
  spend(count = 1): void {
    this.#left -= count
    if (this.#left < 0) throw new NotEvaluatedError(`it takes more than ${MAX_STEPS} steps`)
  }
}
