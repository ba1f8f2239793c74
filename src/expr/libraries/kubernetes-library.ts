import { evaluate, type Names, type SharedSteps } from '../evaluate.ts'
import { CelBudgetError, CelError, type CelExpression, CelSyntaxError, CelUnknownError, reads } from '../expression.ts'
import { isKnownFunction, parseCel } from '../parse-cel.ts'
import { type CelValue, FunctionLibrary, type FunctionTable, Optional } from '../values.ts'
import { URLS } from './addresses.ts'
import { AUTHORIZER } from './authorizer.ts'
import { LISTS } from './lists.ts'
import { QUANTITY } from './quantity.ts'
import { TEXTS } from './texts.ts'
import { TIMES } from './times.ts'

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

/** Operators in a row that an expression may have. */
export const MAX_LINKS = 250

/** Functions of cel-go that Flux loads and Kubernetes does not. */
const OF_FLUX = new Set(['base64.encode', 'base64.decode'])

/** `orValue` of a value that is not optional is that value (cel-go 0.26 of Kubernetes 1.36; Kyverno restores it on newer ones). */
export const OR_VALUE: FunctionTable = {
  methods: { orValue: ([first]) => (first === undefined || first instanceof Optional ? undefined : first) },
}

/**
 * The functions of the API server's base environment (k8s.io/apiserver pkg/cel/environment/base.go of 1.36), without ip(), cidr(),
 * format and semver(): an expression that calls one is not evaluated.
 */
export const kubernetesLibrary = new FunctionLibrary(
  [LISTS, TEXTS, URLS, QUANTITY, TIMES, AUTHORIZER, OR_VALUE],
  (name, isMethod) => isKnownFunction(name, isMethod) && !OF_FLUX.has(name),
  MAX_LINKS,
)
