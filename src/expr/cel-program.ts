import type { Json } from '../kube/node.ts'
import { evaluate } from './evaluate.ts'
import { CelBudgetError, CelError, type CelExpression, CelSyntaxError, partsOf } from './expression.ts'
import { parseCel } from './parse-cel.ts'
import { type CelValue, fromJson, TYPE_NAMES } from './values.ts'

/** Whether an expression is true of some input, or why that is unknown. */
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

const BOOLEAN_CALLS = new Set([
  ...['contains', 'startsWith', 'endsWith', 'matches', 'bool', 'hasValue'],
  ...['sets.contains', 'sets.equivalent', 'sets.intersects'],
])
const BOOLEAN_OPERATORS = new Set(['||', '&&', '==', '!=', '<', '<=', '>', '>=', 'in'])
const BOOLEAN_MACROS = new Set(['all', 'exists', 'exists_one'])

/**
 * Whether the result is a bool whatever the input is: cel-go's compiler takes a field of an object for anything. Throws
 * CelSyntaxError for a name that is not declared.
 */
function isBoolean(expression: CelExpression, names: ReadonlySet<string>): boolean {
  checkNames(expression, names)
  return hasBooleanResult(expression)
}

function hasBooleanResult(expression: CelExpression): boolean {
  switch (expression.type) {
    case 'literal':
      return typeof expression.value === 'boolean'
    case 'has':
      return true
    case 'unary':
      return expression.operator === '!'
    case 'binary':
      return BOOLEAN_OPERATORS.has(expression.operator)
    case 'macro':
      return BOOLEAN_MACROS.has(expression.macro)
    case 'call':
      return BOOLEAN_CALLS.has(expression.name)
    case 'choice':
      return hasBooleanResult(expression.yes) && hasBooleanResult(expression.no)
    default:
      return false
  }
}

function checkNames(expression: CelExpression, names: ReadonlySet<string>): void {
  if (expression.type === 'name') {
    if (!names.has(expression.name) && !TYPE_NAMES.has(expression.name))
      throw new CelSyntaxError(`undeclared reference to '${expression.name}'`)
  } else if (expression.type === 'macro') {
    checkNames(expression.of, names)
    const inner = new Set(names).add(expression.variable)
    for (const arg of expression.args) checkNames(arg, inner)
  } else for (const part of partsOf(expression)) checkNames(part, names)
}
