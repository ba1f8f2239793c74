import { NotEvaluatedError } from './values.ts'

/** RuleSteps that one rule may take for one object, over all of its expressions and lists. */
const MAX_STEPS = 200_000

/** Counts the work of a rule for an object, so that no expression or object makes it grow without end. */
export class RuleSteps {
  #left = MAX_STEPS
  spend(count = 1): void {
    this.#left -= count
    if (this.#left < 0) throw new NotEvaluatedError(`it takes more than ${MAX_STEPS} steps`)
  }
}
