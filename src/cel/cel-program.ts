import type { Json } from '../kube/node.ts'
import { CelBudgetError, CelError, CelSyntaxError } from './cel-error.ts'
import { evaluate } from './evaluate.ts'
import type { CelExpression } from './expression.ts'
import { isBoolean } from './is-boolean.ts'
import { parseCel } from './parse-cel.ts'
import { type CelValue, fromJson } from './values.ts'

/** Whether an expression is true of some input, or why that cannot be said. */
type Answer = { readonly value: boolean } | { readonly error: string }

/**
 * An expression that decides yes or no, as Flux evaluates it (fluxcd/pkg runtime/cel): CEL with optional syntax and the
 * libraries strings, sets and encoders. It comes from tenants, so its work is counted in steps.
 */
export class CelProgram {
  readonly #expression: CelExpression

  private constructor(expression: CelExpression) {
    this.#expression = expression
  }

  /**
   * The program, or what is wrong with the text. With `declared` names it is checked that there are no others, and that the
   * answer can only be true or false.
   */
  static compile(text: string, declared?: readonly string[]): CelProgram | { readonly problem: string } {
    try {
      const expression = parseCel(text)
      if (declared && !isBoolean(expression, new Set(declared))) throw new CelSyntaxError('its result is not a bool')
      return new CelProgram(expression)
    } catch (error) {
      if (error instanceof CelSyntaxError) return { problem: error.message }
      throw error
    }
  }

  /** Of an object whose top-level fields are the names of the expression. Never throws. */
  test(input: { readonly [name: string]: Json }): Answer {
    const names = new Map<string, CelValue>(Object.entries(input).map(([name, json]) => [name, fromJson(json)]))
    try {
      const value = evaluate(this.#expression, names)
      return typeof value === 'boolean' ? { value } : { error: 'its result is not a bool' }
    } catch (error) {
      if (error instanceof CelError || error instanceof CelBudgetError) return { error: error.message }
      throw error
    }
  }
}
