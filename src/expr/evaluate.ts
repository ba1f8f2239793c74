import { arithmetic, negate } from './arithmetic.ts'
import { callFunction } from './call-function.ts'
import { type BinaryOperator, CelBudgetError, CelError, type CelExpression, CelUnknownError } from './expression.ts'
import {
  CelMap,
  type CelValue,
  compare,
  type FunctionLibrary,
  isEqual,
  isList,
  keyText,
  LazyFields,
  LibraryValue,
  NotKnown,
  Optional,
  ofLiteral,
  sorted,
  TYPE_NAMES,
  TypeName,
} from './values.ts'

/** What names stand for. */
export interface Names {
  get(name: string): CelValue | undefined
}

/** A step is one node that is worked out, or some characters or items that are looked at. */
const MAX_STEPS = 1_000_000

/**
 * Works an expression out, as cel-go does without type checks. Throws CelError for what cannot be worked out, and
 * CelBudgetError after a million steps.
 */
export function evaluate(
  expression: CelExpression,
  names: Names,
  library?: FunctionLibrary,
  budget?: SharedSteps,
): CelValue {
  return new Evaluation(library, budget).of(expression, names)
}

/** A budget of steps that several expressions share. */
export class SharedSteps {
  #left: number
  constructor(steps: number) {
    this.#left = steps
  }
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new CelBudgetError('together its expressions take too many steps')
  }
}

class Evaluation {
  readonly #library: FunctionLibrary | undefined
  readonly #budget: SharedSteps | undefined
  #steps = 0

  constructor(library: FunctionLibrary | undefined, budget: SharedSteps | undefined) {
    this.#library = library
    this.#budget = budget
  }

  readonly spend = (steps: number): void => {
    this.#steps += steps
    this.#budget?.spend(steps)
    if (this.#steps > MAX_STEPS) throw new CelBudgetError(`it takes more than ${MAX_STEPS} steps`)
  }

  of(expression: CelExpression, names: Names): CelValue {
    this.spend(1)
    switch (expression.type) {
      case 'literal':
        return ofLiteral(expression.value)
      case 'name': {
        const value = names.get(expression.name)
        if (value === undefined && TYPE_NAMES.has(expression.name)) return new TypeName(expression.name)
        if (value !== undefined) return known(value)
        if (expression.name === 'net' && this.#library) return NET
        throw new CelError(`no such attribute(s): ${expression.name}`)
      }
      case 'list':
        return expression.items.flatMap(({ value, optional }) => this.#item(this.of(value, names), optional))
      case 'map':
        return this.#map(expression, names)
      case 'field':
        return this.#member(this.of(expression.of, names), expression.name, expression.optional)
      case 'index':
        return this.#member(this.of(expression.of, names), this.of(expression.at, names), expression.optional)
      case 'has':
        return this.#has(this.of(expression.of, names), expression.name)
      case 'unary': {
        const value = this.of(expression.of, names)
        if (expression.operator === '-') return negate(value)
        if (typeof value !== 'boolean') throw new CelError('no such overload')
        return !value
      }
      case 'choice': {
        const value = this.of(expression.of, names)
        if (typeof value !== 'boolean') throw new CelError('no such overload')
        return this.of(value ? expression.yes : expression.no, names)
      }
      case 'binary':
        return this.#binary(expression, names)
      case 'macro':
        return this.#macro(expression, names)
      case 'call': {
        const args = this.#arguments(expression, names)
        const isMethod = expression.of !== undefined
        const made = this.#library?.call(expression.name, isMethod, args, this.spend)
        return made ?? (made === null ? null : callFunction(expression.name, isMethod, args, this.spend))
      }
    }
  }

  #arguments({ of, name, args }: CelExpression & { type: 'call' }, names: Names): CelValue[] {
    try {
      return [...(of ? [of] : []), ...args].map(arg => this.of(arg, names))
    } catch (error) {
      // in cel-go this error ends the whole evaluation, even inside `||`
      if (error instanceof CelError && name === 'flatten' && this.#library)
        throw new CelBudgetError(`flatten() of an error: ${error.message}`)
      throw error
    }
  }

  #item(value: CelValue, optional: boolean): CelValue[] {
    if (!optional) return [value]
    if (!(value instanceof Optional)) throw new CelError('no such overload')
    return value.value === undefined ? [] : [value.value]
  }

  #map({ entries }: CelExpression & { type: 'map' }, names: Names): CelValue {
    const made = new Map<string, readonly [CelValue, CelValue]>()
    for (const { key, value, optional } of entries) {
      const name = this.of(key, names)
      const text = keyText(name)
      if (text === undefined || typeof name === 'number') throw new CelError('unsupported key type')
      for (const item of this.#item(this.of(value, names), optional)) made.set(text, [name, item])
    }
    return new CelMap(made)
  }

  #member(of: CelValue, key: CelValue, optional: boolean): CelValue {
    if (of instanceof Optional) {
      if (of.value === undefined) return of
      const found = hasMembers(of.value) ? this.#find(of.value, key) : undefined
      return new Optional(found === undefined ? found : known(found))
    }
    if (optional && !hasMembers(of)) return new Optional(undefined)
    const found = this.#find(of, key)
    if (optional) return new Optional(found === undefined ? found : known(found))
    if (found !== undefined) return known(found)
    throw new CelError(isList(of) ? `index out of bounds: ${String(key)}` : `no such key: ${String(key)}`)
  }

  /** Undefined where there is nothing; throws for what has no members of this type. */
  #find(of: CelValue, key: CelValue): CelValue | undefined {
    if (of instanceof CelMap) {
      const text = keyText(key)
      return text === undefined ? undefined : of.entries.get(text)?.[1]
    }
    if (of instanceof LazyFields || of instanceof LibraryValue)
      return typeof key === 'string' ? of.field(key) : undefined
    if (!isList(of)) throw new CelError('no such overload')
    const text = keyText(key)
    if (!text?.startsWith('n')) throw new CelError('no such overload')
    return of[Number(text.slice(1))]
  }

  #has(of: CelValue, name: string): boolean {
    if (of instanceof Optional) return of.value !== undefined && this.#has(of.value, name)
    if (of instanceof LazyFields) return of.field(name) !== undefined
    if (!(of instanceof CelMap)) return this.#isNoField(of)
    return isPresent(of.entries.get(`s${name}`))
  }

  /** A value without fields has none; lists are no such values. */
  #isNoField(of: CelValue): false {
    if (this.#library && !isList(of)) return false
    throw new CelError('no such overload')
  }

  #binary({ operator, left, right }: CelExpression & { type: 'binary' }, names: Names): CelValue {
    if (operator === '&&' || operator === '||') {
      return this.#logic(
        operator,
        () => this.of(left, names),
        () => this.of(right, names),
      )
    }
    return this.#operate(operator, this.of(left, names), this.of(right, names))
  }

  #operate(operator: BinaryOperator, left: CelValue, right: CelValue): CelValue {
    switch (operator) {
      case '==':
        return isEqual(left, right, this.spend)
      case '!=':
        return !isEqual(left, right, this.spend)
      case 'in': {
        if (isList(right)) return right.some(item => isEqual(left, item, this.spend))
        if (!(right instanceof CelMap)) throw new CelError('no such overload')
        const text = keyText(left)
        return text !== undefined && isPresent(right.entries.get(text))
      }
      case '<':
        return this.#compared(left, right) < 0
      case '<=':
        return this.#compared(left, right) <= 0
      case '>':
        return this.#compared(left, right) > 0
      case '>=':
        return this.#compared(left, right) >= 0
      default:
        return arithmetic(operator, left, right, this.spend)
    }
  }

  /** Comparing texts costs steps in proportion to their length. */
  #compared(left: CelValue, right: CelValue): number {
    if (typeof left === 'string' && typeof right === 'string') this.spend((left.length + right.length) / 10)
    return compare(left, right)
  }

  /** The side that decides, whatever the other one is, also where the other one cannot be worked out. */
  #logic(operator: '&&' | '||', left: () => CelValue, right: () => CelValue): boolean {
    const decides = operator === '||'
    let failure: CelError | CelUnknownError | undefined
    for (const side of [left, right]) {
      try {
        const value = side()
        if (value === decides) return decides
        if (typeof value !== 'boolean') throw new CelError('no such overload')
      } catch (error) {
        failure = worse(failure, error)
      }
    }
    if (failure) throw failure
    return !decides
  }

  #macro(expression: CelExpression & { type: 'macro' }, names: Names): CelValue {
    const { of, macro, variable, args, second: pair } = expression
    const value = this.of(of, names)
    if (pair !== undefined) return this.#paired(expression, pair, value, names)
    const withItem = (item: CelValue) => new Scope(names, variable, item)
    const [first, second] = args
    if (macro === 'optMap' || macro === 'optFlatMap') {
      if (!(value instanceof Optional)) throw new CelError('no such overload')
      if (value.value === undefined) return value
      const made = this.of(first!, withItem(value.value))
      if (macro === 'optMap') return new Optional(made)
      if (made instanceof Optional) return made
      throw new CelError('no such overload')
    }
    const items = isList(value)
      ? value
      : value instanceof CelMap
        ? [...value.entries.values()].map(([key]) => key)
        : undefined
    if (!items) throw new CelError('no such overload')
    const isTrue = (expression: CelExpression, item: CelValue): boolean => this.#isTrue(expression, withItem(item))
    if (macro === 'all' || macro === 'exists') return this.#any(macro === 'exists', items, item => isTrue(first!, item))
    if (macro === 'exists_one') return items.filter(item => isTrue(first!, item)).length === 1
    if (macro === 'sortBy')
      return sorted(
        items,
        items.map(item => this.of(first!, withItem(item))),
        this.spend,
      )
    if (macro === 'filter') return items.filter(item => isTrue(first!, item))
    if (!second) return items.map(item => this.of(first!, withItem(item)))
    return items.filter(item => isTrue(first!, item)).map(item => this.of(second, withItem(item)))
  }

  /** Macros with two variables: index or key, and value. */
  #paired(
    { macro, variable, args }: CelExpression & { type: 'macro' },
    second: string,
    value: CelValue,
    names: Names,
  ): CelValue {
    const pairs: readonly (readonly [CelValue, CelValue])[] | undefined = isList(value)
      ? value.map((item, index) => [BigInt(index), item])
      : value instanceof CelMap
        ? [...value.entries.values()]
        : undefined
    if (!pairs) throw new CelError('no such overload')
    const withPair = ([key, item]: readonly [CelValue, CelValue]) =>
      new Scope(new Scope(names, variable, key), second, item)
    const isTrue = (pair: readonly [CelValue, CelValue]) => this.#isTrue(args[0]!, withPair(pair))
    if (macro === 'all' || macro === 'exists') {
      return this.#any(
        macro === 'exists',
        pairs.map((_, index) => BigInt(index)),
        index => isTrue(pairs[Number(index)]!),
      )
    }
    if (!macro.startsWith('transform')) return pairs.filter(isTrue).length === 1
    const kept = args.length > 1 ? pairs.filter(isTrue) : pairs
    const made = kept.map(pair => [pair[0], this.of(args.at(-1)!, withPair(pair))] as const)
    if (macro === 'transformList') return made.map(([, item]) => item)
    const entries = new Map<string, readonly [CelValue, CelValue]>()
    const all = macro === 'transformMap' ? made : made.flatMap(([, entry]) => entriesOf(entry))
    for (const [key, item] of all) {
      const text = keyText(key)!
      if (entries.has(text)) throw new CelError(`insert failed: key ${String(key)} already exists`)
      entries.set(text, [key, item])
    }
    return new CelMap(entries)
  }

  #isTrue(expression: CelExpression, names: Names): boolean {
    const answer = this.of(expression, names)
    if (typeof answer !== 'boolean') throw new CelError('no such overload')
    return answer
  }

  /** The first item that decides ends it; an item that cannot be worked out counts where none decides. */
  #any(decides: boolean, items: readonly CelValue[], test: (item: CelValue) => boolean): boolean {
    let failure: CelError | CelUnknownError | undefined
    for (const item of items) {
      try {
        if (test(item) === decides) return decides
      } catch (error) {
        failure = worse(undefined, error, failure)
      }
    }
    if (failure) throw failure
    return !decides
  }
}

/** One more name than another scope has. */
class Scope implements Names {
  readonly #outer: Names
  readonly #name: string
  readonly #value: CelValue

  constructor(outer: Names, name: string, value: CelValue) {
    this.#outer = outer
    this.#name = name
    this.#value = value
  }

  get(name: string): CelValue | undefined {
    return name === this.#name ? this.#value : this.#outer.get(name)
  }
}

/** Names of types that have a namespace. */
const NET = new LazyFields(name => (name === 'IP' || name === 'CIDR' ? new TypeName(`net.${name}`) : undefined))

/** Whether a map has this entry. Throws CelUnknownError where only the cluster knows. */
function isPresent(entry: readonly [CelValue, CelValue] | undefined): boolean {
  const value = entry?.[1]
  if (value instanceof NotKnown && value.mayBeAbsent) throw new CelUnknownError(value.why)
  return entry !== undefined
}

const hasMembers = (value: CelValue) => isList(value) || value instanceof CelMap || value instanceof LazyFields

function known(value: CelValue): CelValue {
  if (value instanceof NotKnown) throw new CelUnknownError(value.why)
  return value
}

function entriesOf(value: CelValue): (readonly [CelValue, CelValue])[] {
  if (!(value instanceof CelMap)) throw new CelError('no such overload')
  return [...value.entries.values()]
}

/** Of two failures the one that counts: what is not known goes before an error. Throws anything else. */
function worse(
  earlier: CelError | CelUnknownError | undefined,
  error: unknown,
  fallback?: CelError | CelUnknownError,
): CelError | CelUnknownError {
  if (!(error instanceof CelError) && !(error instanceof CelUnknownError)) throw error
  const known = earlier ?? fallback
  if (known instanceof CelUnknownError) return known
  if (error instanceof CelUnknownError) return error
  return earlier ?? error
}
