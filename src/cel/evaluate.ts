import { arithmetic, negate } from './arithmetic.ts'
import { callFunction } from './call-function.ts'
import { CelBudgetError, CelError } from './cel-error.ts'
import type { BinaryOperator, CelExpression } from './expression.ts'
import {
  CelMap,
  type CelValue,
  compare,
  isEqual,
  isList,
  keyText,
  Optional,
  ofLiteral,
  TYPE_NAMES,
  TypeName,
} from './values.ts'

/** What names stand for. */
type Names = ReadonlyMap<string, CelValue>

/** A step is one node that is worked out, or some characters or items that are looked at. */
const MAX_STEPS = 1_000_000

/**
 * Works an expression out, as cel-go does without type checks. Throws CelError for what cannot be worked out, and
 * CelBudgetError after a million steps.
 */
export function evaluate(expression: CelExpression, names: Names): CelValue {
  return new Evaluation().of(expression, names)
}

class Evaluation {
  #steps = 0

  readonly spend = (steps: number): void => {
    this.#steps += steps
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
        if (value === undefined) throw new CelError(`no such attribute(s): ${expression.name}`)
        return value
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
        const args = [...(expression.of ? [expression.of] : []), ...expression.args].map(arg => this.of(arg, names))
        return callFunction(expression.name, expression.of !== undefined, args, this.spend)
      }
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
      const found = this.#find(of.value, key)
      return new Optional(found)
    }
    const found = this.#find(of, key)
    if (optional) return new Optional(found)
    if (found !== undefined) return found
    throw new CelError(isList(of) ? `index out of bounds: ${String(key)}` : `no such key: ${String(key)}`)
  }

  /** Undefined where there is nothing; throws for what has no members of this type. */
  #find(of: CelValue, key: CelValue): CelValue | undefined {
    if (of instanceof CelMap) {
      const text = keyText(key)
      return text === undefined ? undefined : of.entries.get(text)?.[1]
    }
    if (!isList(of)) throw new CelError('no such overload')
    const text = keyText(key)
    if (!text?.startsWith('n')) throw new CelError('no such overload')
    return of[Number(text.slice(1))]
  }

  #has(of: CelValue, name: string): boolean {
    if (of instanceof Optional) return of.value !== undefined && this.#has(of.value, name)
    if (!(of instanceof CelMap)) throw new CelError('no such overload')
    return of.entries.has(`s${name}`)
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
        return text !== undefined && right.entries.has(text)
      }
      case '<':
        return compare(left, right) < 0
      case '<=':
        return compare(left, right) <= 0
      case '>':
        return compare(left, right) > 0
      case '>=':
        return compare(left, right) >= 0
      default:
        return arithmetic(operator, left, right, this.spend)
    }
  }

  /** The side that decides, whatever the other one is, also where the other one cannot be worked out. */
  #logic(operator: '&&' | '||', left: () => CelValue, right: () => CelValue): boolean {
    const decides = operator === '||'
    let failure: CelError | undefined
    for (const side of [left, right]) {
      try {
        const value = side()
        if (value === decides) return decides
        if (typeof value !== 'boolean') throw new CelError('no such overload')
      } catch (error) {
        if (!(error instanceof CelError)) throw error
        failure ??= error
      }
    }
    if (failure) throw failure
    return !decides
  }

  #macro({ of, macro, variable, args }: CelExpression & { type: 'macro' }, names: Names): CelValue {
    const value = this.of(of, names)
    const withItem = (item: CelValue) => new Map(names).set(variable, item)
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
    const isTrue = (expression: CelExpression, item: CelValue): boolean => {
      const answer = this.of(expression, withItem(item))
      if (typeof answer !== 'boolean') throw new CelError('no such overload')
      return answer
    }
    switch (macro) {
      case 'all':
      case 'exists':
        return this.#any(macro === 'exists', items, item => isTrue(first!, item))
      case 'exists_one':
        return items.filter(item => isTrue(first!, item)).length === 1
      case 'filter':
        return items.filter(item => isTrue(first!, item))
      case 'map': {
        if (!second) return items.map(item => this.of(first!, withItem(item)))
        return items.filter(item => isTrue(first!, item)).map(item => this.of(second, withItem(item)))
      }
    }
  }

  /** The first item that decides ends it; an item that cannot be worked out counts where none decides. */
  #any(decides: boolean, items: readonly CelValue[], test: (item: CelValue) => boolean): boolean {
    let failure: CelError | undefined
    for (const item of items) {
      try {
        if (test(item) === decides) return decides
      } catch (error) {
        if (!(error instanceof CelError)) throw error
        failure = error
      }
    }
    if (failure) throw failure
    return !decides
  }
}
