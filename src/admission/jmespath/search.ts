import { oncePerText } from '../../base/once-per.ts'
import { ARITHMETIC } from './arithmetic-functions.ts'
import { LIST_FUNCTIONS, OBJECT_FUNCTIONS } from './object-functions.ts'
import { type Comparison, type JmespathExpression, type Projection, parse } from './parse.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'
import {
  type ContextValue,
  type ExpressionReference,
  isFields,
  isList,
  isSame,
  type JmespathFunction,
  known,
  NotEvaluatedError,
  RuleError,
  type RuleSteps,
  takesArgument,
} from './values.ts'

const UNSUPPORTED = [
  ...['random', 'x509_decode', 'semver_compare', 'is_external_url', 'path_canonicalize'],
  ...['time_now', 'time_now_utc', 'time_since', 'time_diff', 'time_before', 'time_after', 'time_between'],
  ...['time_add', 'time_utc', 'time_parse', 'time_truncate', 'time_to_cron'],
]

/** The functions of JMESPath and Kyverno's additions (pkg/engine/jmespath). A text is the reason why a function is not supported. */
const FUNCTIONS: ReadonlyMap<string, JmespathFunction | string> = new Map<string, JmespathFunction | string>([
  ...Object.entries(LIST_FUNCTIONS),
  ...Object.entries(OBJECT_FUNCTIONS),
  ...Object.entries(TEXT_FUNCTIONS),
  ...Object.entries(ARITHMETIC),
  ...UNSUPPORTED.map((name): [string, string] => [name, `${name}() is not supported`]),
])

/** An absent key. Most expressions treat it as null, but Kyverno rejects a variable that evaluates to it. */
class Missing {
  readonly key: string
  constructor(key: string) {
    this.key = key
  }
}

type Found = ContextValue | Missing

const LONGEST_KEPT = 500
const kept = oncePerText(5_000, parse)

/**
 * Evaluates a JMESPath expression as Kyverno's fork of go-jmespath does: an absent key is an error unless an expression treats it as
 * null. Works only on Maps and lists, and counts its steps.
 */
export function search(text: string, value: ContextValue, steps: RuleSteps): ContextValue {
  const found = new Search(steps).find(expressionOf(text), value)
  if (found instanceof Missing) throw new RuleError(`Unknown key ${JSON.stringify(found.key)} in path`)
  return found
}

const expressionOf = (text: string): JmespathExpression => (text.length <= LONGEST_KEPT ? kept : parse)(text)

class Search {
  readonly #steps: RuleSteps
  constructor(steps: RuleSteps) {
    this.#steps = steps
  }

  find(expression: JmespathExpression, value: ContextValue): Found {
    this.#steps.spend()
    switch (expression.type) {
      case 'current':
        return value
      case 'literal':
        return expression.value
      case 'field':
        return fieldOf(value, expression.name)
      case 'index':
        return itemAt(value, expression.index)
      case 'slice':
        return sliced(known(value), expression.parts)
      case 'sub': {
        const left = this.find(expression.left, value)
        return left instanceof Missing ? left : this.find(expression.right, left)
      }
      case 'pipe':
        return this.#soft(expression.right, this.#soft(expression.left, value))
      case 'or': {
        const left = this.#soft(expression.left, value)
        return isFalse(left) ? this.#soft(expression.right, value) : left
      }
      case 'and': {
        const left = this.#soft(expression.left, value)
        return isFalse(left) ? left : this.find(expression.right, value)
      }
      case 'not':
        return isFalse(this.#soft(expression.of, value))
      case 'compare':
        return compared(expression.operator, this.#soft(expression.left, value), this.#soft(expression.right, value))
      case 'list':
        return value === null ? null : expression.of.map(one => this.#soft(one, value))
      case 'fields':
        if (value === null) return null
        return new Map(expression.of.map(([key, one]) => [key, this.#soft(one, value)]))
      case 'call':
        return this.#call(expression, value)
      case 'reference':
        throw new RuleError('a reference to an expression that is no argument')
      default:
        return this.#projection(expression, value)
    }
  }

  #soft(expression: JmespathExpression, value: ContextValue): ContextValue {
    const found = this.find(expression, value)
    return found instanceof Missing ? null : found
  }

  /** Like `#soft`, but returns null if evaluation fails. */
  #lenient(expression: JmespathExpression, value: ContextValue): ContextValue {
    try {
      return this.#soft(expression, value)
    } catch (error) {
      if (error instanceof RuleError) return null
      throw error
    }
  }

  #projection(expression: Projection, value: ContextValue): ContextValue {
    if (expression.type === 'flatten') {
      const list = known(this.#lenient(expression.of, value))
      if (!isList(list)) return null
      this.#steps.spend(list.length)
      return list.flatMap(item => (isList(known(item)) ? (item as readonly ContextValue[]) : [item]))
    }
    if (expression.type === 'items') {
      const list = known(this.#soft(expression.left, value))
      return isList(list) ? this.#each(list, expression.right) : null
    }
    const left = known(this.#lenient(expression.left, value))
    if (expression.type === 'filter') {
      const { condition, right } = expression
      if (!isList(left)) return null
      const chosen = left.filter(item => !isFalse(this.#soft(condition, item)))
      return this.#each(chosen, right)
    }
    if (!isFields(left)) return null
    // go-jmespath prepends one null for each entry of the map
    return this.#each([...Array.from({ length: left.size }, () => null), ...left.values()], expression.right)
  }

  #each(list: readonly ContextValue[], expression: JmespathExpression): ContextValue {
    return list.map(item => this.#soft(expression, item)).filter(item => item !== null)
  }

  #call({ name, args }: Extract<JmespathExpression, { type: 'call' }>, value: ContextValue): ContextValue {
    const called = FUNCTIONS.get(name)
    if (!called) throw new RuleError(`unknown function: ${name}`)
    if (typeof called === 'string') throw new NotEvaluatedError(called)
    const given = args.map(one => (one.type === 'reference' ? this.#reference(one.of) : this.#soft(one, value)))
    const { takes, call } = called
    const isMany = called.isVariadic === true
    if (isMany ? given.length < takes.length : given.length !== takes.length) {
      throw new RuleError(`${name}: incorrect number of arguments`)
    }
    for (const [index, one] of given.entries()) {
      const types = takes[Math.min(index, takes.length - 1)]!
      if (!takesArgument(types, one)) throw new RuleError(`${name}: argument ${index + 1} is not ${types.join(' or ')}`)
    }
    this.#steps.spend(given.reduce<number>((sum, one) => sum + sizeOf(one), 1))
    return call(given, this.#steps)
  }

  #reference(expression: JmespathExpression): ExpressionReference {
    return { of: item => this.#soft(expression, item) }
  }
}

/** A rough measure of how much of an argument a function reads. */
function sizeOf(value: ContextValue | ExpressionReference): number {
  if (typeof value === 'string') return 1 + value.length / 100
  return isList(value as ContextValue) ? (value as readonly ContextValue[]).length : 1
}

function fieldOf(value: ContextValue, name: string): Found {
  if (isFields(value)) {
    const found = value.get(name)
    return found === undefined ? new Missing(name) : found
  }
  return isUnknown(value) ? value : null
}

const isUnknown = (value: ContextValue) =>
  typeof value === 'object' && value !== null && !isList(value) && !isFields(value)

function itemAt(value: ContextValue, index: number): ContextValue {
  if (!isList(value)) return isUnknown(value) ? value : null
  return value.at(index) ?? null
}

function sliced(value: ContextValue, [from, to, by]: readonly (number | undefined)[]): ContextValue {
  if (!isList(value)) return null
  const step = by ?? 1
  if (step === 0) throw new RuleError('Invalid slice, step cannot be 0')
  const { length } = value
  const capped = (index: number) => {
    if (index < 0) return index + length < 0 ? (step < 0 ? -1 : 0) : index + length
    return index < length ? index : step < 0 ? length - 1 : length
  }
  const start = from === undefined ? (step < 0 ? length - 1 : 0) : capped(from)
  const stop = to === undefined ? (step < 0 ? -1 : length) : capped(to)
  const found: ContextValue[] = []
  for (let at = start; step > 0 ? at < stop : at > stop; at += step) found.push(value[at]!)
  return found
}

/** The values that are false in JMESPath: null, false, and empty ones. */
function isFalse(value: ContextValue): boolean {
  const plain = known(value)
  if (isList(plain)) return plain.length === 0
  return isFields(plain) ? plain.size === 0 : plain === null || plain === false || plain === ''
}

function compared(operator: Comparison, left: ContextValue, right: ContextValue): ContextValue {
  if (operator === '==') return isSame(left, right)
  if (operator === '!=') return !isSame(left, right)
  const [a, b] = [known(left), known(right)]
  if (typeof a !== 'number' || typeof b !== 'number') return null
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}
