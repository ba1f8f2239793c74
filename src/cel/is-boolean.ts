import { CelSyntaxError } from './cel-error.ts'
import type { CelExpression } from './expression.ts'
import { partsOf } from './parts-of.ts'
import { TYPE_NAMES } from './values.ts'

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
export function isBoolean(expression: CelExpression, names: ReadonlySet<string>): boolean {
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
