import { CelBudgetError, CelError, CelSyntaxError, CelUnknownError } from '../cel-error.ts'
import { evaluate, type Names, type SharedSteps } from '../evaluate.ts'
import type { CelExpression } from '../expression.ts'
import type { FunctionLibrary } from '../function-library.ts'
import { parseCel } from '../parse-cel.ts'
import { reads } from '../parts-of.ts'
import type { CelValue } from '../values.ts'
import { kubernetesLibrary } from './kubernetes-library.ts'

/** The value of an expression, the error that the API server would report, or why neither is known. */
type CelOutcome = { readonly value: CelValue } | { readonly error: string } | { readonly notEvaluated: string }

/**
 * An expression of a policy or of a CustomResourceDefinition, with the libraries of the API server. Its work is counted in
 * steps: what takes more is not evaluated.
 */
export class PolicyExpression {
  readonly #expression: CelExpression
  readonly #library: FunctionLibrary

  private constructor(expression: CelExpression, library: FunctionLibrary) {
    this.#expression = expression
    this.#library = library
  }

  /** The expression, or what is wrong with the text. */
  static compile(
    text: string,
    library: FunctionLibrary = kubernetesLibrary,
  ): PolicyExpression | { readonly problem: string } {
    try {
      return new PolicyExpression(parseCel(text, library), library)
    } catch (error) {
      if (error instanceof CelSyntaxError) return { problem: error.message }
      throw error
    }
  }

  /** Whether the expression reads a name. */
  reads(name: string): boolean {
    return reads(this.#expression, name)
  }

  /** Never throws. `budget`: steps shared with other expressions. */
  evaluate(names: Names, budget?: SharedSteps): CelOutcome {
    try {
      return { value: evaluate(this.#expression, names, this.#library, budget) }
    } catch (error) {
      if (error instanceof CelError) return { error: error.message }
      if (error instanceof CelUnknownError || error instanceof CelBudgetError) return { notEvaluated: error.message }
      throw error
    }
  }

  /** As `evaluate`, for an expression in another one: throws what that one has to deal with. */
  valueIn(names: Names, budget?: SharedSteps): CelValue {
    return evaluate(this.#expression, names, this.#library, budget)
  }
}
