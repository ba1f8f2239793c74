import type { CelExpression, Literal } from '../../cel/expression.ts'
import { callType } from './call-type.ts'
import { BOOL, DYN, fieldType, INT, mayEqual, nameOf, type RuleType, TEXT } from './rule-type.ts'
import { RuleTypeError } from './rule-type-error.ts'

/** Types of the names that an expression may read. */
export type TypeNames = ReadonlyMap<string, RuleType>

/** Names of types, which are values too, and the first words of longer ones. */
const TYPES = new Set(
  'bool bytes double duration dyn google int kubernetes list map net null_type optional_type string timestamp type uint'.split(
    ' ',
  ),
)

/**
 * The type of an expression, as far as it is certain. Throws RuleTypeError where cel-go's compiler certainly refuses the expression;
 * what is not known is `dyn`, and nothing is said about it.
 */
export function inferType(expression: CelExpression, names: TypeNames): RuleType {
  const infer = (one: CelExpression) => inferType(one, names)
  switch (expression.type) {
    case 'literal':
      return literalType(expression.value)
    case 'list':
      return { is: 'list', of: commonType(expression.items.map(item => (item.optional ? DYN : infer(item.value)))) }
    case 'map': {
      const { entries } = expression
      const of = commonType(entries.map(({ value, optional }) => (optional ? DYN : infer(value))))
      return { is: 'map', key: commonType(entries.map(({ key }) => infer(key))), of }
    }
    case 'name': {
      const type = names.get(expression.name)
      if (type) return type
      if (TYPES.has(expression.name)) return DYN
      throw new RuleTypeError(`undeclared reference to '${expression.name}'`)
    }
    case 'field':
      return selected(infer(expression.of), expression.name, expression.optional)
    case 'has':
      selected(infer(expression.of), expression.name, false)
      return BOOL
    case 'index':
      return indexed(infer(expression.of), infer(expression.at), expression.optional)
    case 'call': {
      const { of, name, args } = expression
      return callType(name, of && infer(of), args.map(infer), args)
    }
    case 'macro':
      return macroType(expression, names)
    case 'unary':
      return unaryType(expression.operator, infer(expression.of))
    case 'binary':
      return binaryType(expression.operator, infer(expression.left), infer(expression.right))
    default: {
      mustBeBool(infer(expression.of), '?:')
      return commonType([infer(expression.yes), infer(expression.no)])
    }
  }
}

function literalType(value: Literal): RuleType {
  if (value === null) return { is: 'null' }
  if (typeof value === 'boolean') return BOOL
  if (typeof value === 'string') return TEXT
  if (typeof value === 'bigint') return INT
  if (typeof value === 'number') return { is: 'double' }
  return { is: value instanceof Uint8Array ? 'bytes' : 'uint' }
}

/** Of values that must be of one type. */
function commonType(types: readonly RuleType[]): RuleType {
  const [first, ...others] = types
  if (first === undefined) return DYN
  for (const other of others)
    if (!mayEqual(first, other))
      throw new RuleTypeError(`expected type '${nameOf(first)}' but found '${nameOf(other)}'`)
  return types.every(({ is }) => is === first.is) ? first : DYN
}

const optional = (of: RuleType): RuleType => ({ is: 'optional', of })

function selected(of: RuleType, name: string, isOptional: boolean): RuleType {
  if (of.is === 'optional') return optional(selected(of.of, name, false))
  if (isOptional) return optional(selected(of, name, false))
  if (of.is === 'dyn') return DYN
  if (of.is === 'map') return of.of
  if (of.is !== 'object') throw new RuleTypeError(`type '${nameOf(of)}' does not support field selection`)
  const type = fieldType(of, name)
  if (type === undefined) throw new RuleTypeError(`undefined field '${name}'`)
  return type
}

function indexed(of: RuleType, at: RuleType, isOptional: boolean): RuleType {
  if (of.is === 'optional') return optional(indexed(of.of, at, false))
  if (isOptional) return optional(indexed(of, at, false))
  if (of.is === 'dyn') return DYN
  if (of.is === 'list' && (at.is === 'int' || at.is === 'dyn')) return of.of
  if (of.is === 'map' && mayEqual(of.key, at)) return of.of
  throw noOverload('_[_]', of, at)
}

function unaryType(operator: '!' | '-', of: RuleType): RuleType {
  if (operator === '!') return mustBeBool(of, '!_')
  if (of.is === 'dyn' || of.is === 'int' || of.is === 'double') return of
  throw noOverload('-_', of)
}

function mustBeBool(type: RuleType, where: string): RuleType {
  if (type.is !== 'bool' && type.is !== 'dyn') throw noOverload(where, type)
  return BOOL
}

const NUMBERS: ReadonlySet<RuleType['is']> = new Set(['double', 'int', 'uint'])
const ORDERED: ReadonlySet<RuleType['is']> = new Set([...NUMBERS, 'bool', 'bytes', 'duration', 'string', 'timestamp'])
/** Types that an operator takes, both of the same. */
const OPERANDS: Readonly<Record<string, ReadonlySet<RuleType['is']>>> = {
  '+': new Set([...NUMBERS, 'bytes', 'duration', 'list', 'string']),
  '-': new Set([...NUMBERS, 'duration']),
  '*': NUMBERS,
  '/': NUMBERS,
  '%': new Set(['int', 'uint']),
}
const TIMES: ReadonlySet<RuleType['is']> = new Set(['duration', 'timestamp'])

function binaryType(operator: string, left: RuleType, right: RuleType): RuleType {
  switch (operator) {
    case '&&':
    case '||':
      mustBeBool(left, `_${operator}_`)
      return mustBeBool(right, `_${operator}_`)
    case '==':
    case '!=':
      if (!mayEqual(left, right)) throw noOverload(`_${operator}_`, left, right)
      return BOOL
    case 'in':
      return memberType(left, right)
  }
  const operands = OPERANDS[operator]
  if (operands === undefined) {
    for (const one of [left, right])
      if (one.is !== 'dyn' && !ORDERED.has(one.is)) throw noOverload(`_${operator}_`, left, right)
    const areNumbers = NUMBERS.has(left.is) && NUMBERS.has(right.is)
    if (!areNumbers && !mayEqual(left, right)) throw noOverload(`_${operator}_`, left, right)
    return BOOL
  }
  // what may be added to an instant and taken from it
  if (TIMES.has(left.is) && TIMES.has(right.is)) return DYN
  for (const one of [left, right])
    if (one.is !== 'dyn' && !operands.has(one.is) && !TIMES.has(one.is)) throw noOverload(`_${operator}_`, left, right)
  if (!mayEqual(left, right)) throw noOverload(`_${operator}_`, left, right)
  return left.is === right.is ? left : DYN
}

function memberType(left: RuleType, right: RuleType): RuleType {
  const key = right.is === 'list' ? right.of : right.is === 'map' ? right.key : right.is === 'dyn' ? DYN : undefined
  if (key === undefined || !mayEqual(left, key)) throw noOverload('@in', left, right)
  return BOOL
}

const noOverload = (name: string, ...types: readonly RuleType[]): RuleTypeError =>
  new RuleTypeError(`found no matching overload for '${name}' applied to '(${types.map(nameOf).join(', ')})'`)

/** Macros with one variable whose body is a condition. */
const CONDITIONS = new Set(['all', 'exists', 'exists_one'])

function macroType(expression: CelExpression & { type: 'macro' }, names: TypeNames): RuleType {
  const { macro, variable, second, args } = expression
  const of = inferType(expression.of, names)
  const isOfOptional = macro === 'optMap' || macro === 'optFlatMap'
  if (second !== undefined || macro.startsWith('transform') || macro === 'sortBy') {
    const inner = new Map([...names, [variable, DYN], ...(second === undefined ? [] : [[second, DYN] as const])])
    for (const arg of args) inferType(arg, inner)
    return DYN
  }
  const item = isOfOptional ? (of.is === 'optional' ? of.of : DYN) : rangeType(of)
  const inner = new Map([...names, [variable, item]])
  const types = args.map(arg => inferType(arg, inner))
  const last = types.at(-1) ?? DYN
  if (isOfOptional) return macro === 'optMap' ? optional(last) : last
  for (const type of CONDITIONS.has(macro) || macro === 'filter' ? types : types.slice(0, -1)) mustBeBool(type, macro)
  if (CONDITIONS.has(macro)) return BOOL
  return { is: 'list', of: macro === 'filter' ? item : last }
}

/** What a macro goes over: the items of a list, the keys of a map. */
function rangeType(of: RuleType): RuleType {
  if (of.is === 'list') return of.of
  if (of.is === 'map') return of.key
  if (of.is === 'dyn') return DYN
  throw new RuleTypeError(`expression of type '${nameOf(of)}' cannot be range of a comprehension`)
}
