import type { CelExpression } from '../../cel/expression.ts'
import { patternRefusal } from '../core/structural-logic.ts'
import { BOOL, DYN, INT, mayEqual, nameOf, type RuleType, TEXT } from './rule-type.ts'
import { RuleTypeError } from './rule-type-error.ts'

/** Results of functions that are called by their name. */
const FUNCTIONS: ReadonlyMap<string, RuleType> = new Map<string, RuleType>([
  ...['isURL', 'isIP', 'isCIDR', 'isQuantity', 'isSemver', 'bool'].map(name => [name, BOOL] as const),
  ...['size', 'int'].map(name => [name, INT] as const),
  ['string', TEXT],
  ['double', { is: 'double' }],
  ['uint', { is: 'uint' }],
  ['bytes', { is: 'bytes' }],
  ['timestamp', { is: 'timestamp' }],
  ['duration', { is: 'duration' }],
  ['type', { is: 'type' }],
])

/** Results of functions of texts, and how many of their first arguments are texts. */
const OF_TEXTS: ReadonlyMap<string, readonly [RuleType, number]> = new Map<string, readonly [RuleType, number]>([
  ...['contains', 'startsWith', 'endsWith', 'matches'].map(name => [name, [BOOL, 1]] as const),
  ...['lowerAscii', 'upperAscii', 'trim', 'substring', 'charAt'].map(name => [name, [TEXT, 0]] as const),
  ['replace', [TEXT, 2]],
  ['find', [TEXT, 1]],
  ['findAll', [{ is: 'list', of: TEXT }, 1]],
  ['split', [{ is: 'list', of: TEXT }, 1]],
])

const SIZED: ReadonlySet<RuleType['is']> = new Set(['bytes', 'dyn', 'list', 'map', 'string'])

/** The type of a call, as `inferType`; `of`: what a method is called on. */
export function callType(
  name: string,
  of: RuleType | undefined,
  args: readonly RuleType[],
  written: readonly CelExpression[],
): RuleType {
  const refuse = () => {
    const types = args.map(nameOf).join(', ')
    const applied = of ? `${nameOf(of)}.(${types})` : `(${types})`
    return new RuleTypeError(`found no matching overload for '${name}' applied to '${applied}'`)
  }
  const [first] = of ? [of] : args
  if (name === 'size' && first !== undefined) {
    if (!SIZED.has(first.is)) throw refuse()
    return INT
  }
  if (of === undefined) return FUNCTIONS.get(name) ?? DYN
  const [result, count] = OF_TEXTS.get(name) ?? [undefined, 0]
  if (result !== undefined) {
    for (const one of [of, ...args.slice(0, count)]) if (one.is !== 'string' && one.is !== 'dyn') throw refuse()
    if (name === 'matches') checkPattern(written[0])
    return result
  }
  return optionalCall(name, of, args, refuse)
}

function checkPattern(written: CelExpression | undefined): void {
  if (written?.type !== 'literal' || typeof written.value !== 'string') return
  if (patternRefusal(written.value) !== undefined) throw new RuleTypeError('invalid matches argument')
}

function optionalCall(name: string, of: RuleType, args: readonly RuleType[], refuse: () => RuleTypeError): RuleType {
  if (name !== 'hasValue' && name !== 'orValue' && name !== 'value') return DYN
  if (of.is === 'dyn') return name === 'hasValue' ? BOOL : DYN
  if (of.is !== 'optional') throw refuse()
  if (name === 'hasValue') return BOOL
  if (name === 'orValue' && args[0] !== undefined && !mayEqual(of.of, args[0])) throw refuse()
  return of.of
}
