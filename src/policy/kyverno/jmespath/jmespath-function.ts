import type { RuleSteps } from './rule-steps.ts'
import type { ArgumentType, ExpressionReference } from './takes-argument.ts'
import { isReference } from './takes-argument.ts'
import { type ContextValue, isFields, isList, known, RuleError } from './values.ts'

/** A JMESPath function. Its caller has checked the types of the arguments. */
export interface JmespathFunction {
  readonly takes: readonly (readonly ArgumentType[])[]
  readonly isVariadic?: true
  readonly call: (args: readonly (ContextValue | ExpressionReference)[], steps: RuleSteps) => ContextValue
}

export type KyvernoFunctions = Readonly<Record<string, JmespathFunction>>

/** Returns a text argument. Throws RuleError for another type. */
export function textOf(args: readonly (ContextValue | ExpressionReference)[], index: number): string {
  const value = argument(args, index)
  if (typeof value !== 'string') throw new RuleError(`argument ${index + 1} is not a string`)
  return value
}

export function numberOf(args: readonly (ContextValue | ExpressionReference)[], index: number): number {
  const value = argument(args, index)
  if (typeof value !== 'number') throw new RuleError(`argument ${index + 1} is not a number`)
  return value
}

export function listOf(args: readonly (ContextValue | ExpressionReference)[], index: number): readonly ContextValue[] {
  const value = argument(args, index)
  if (!isList(value)) throw new RuleError(`argument ${index + 1} is not an array`)
  return value
}

export function fieldsOf(
  args: readonly (ContextValue | ExpressionReference)[],
  index: number,
): ReadonlyMap<string, ContextValue> {
  const value = argument(args, index)
  if (!isFields(value)) throw new RuleError(`argument ${index + 1} is not an object`)
  return value
}

export function argument(args: readonly (ContextValue | ExpressionReference)[], index: number): ContextValue {
  const given = args[index] ?? null
  if (isReference(given)) throw new RuleError(`argument ${index + 1} is a reference`)
  return known(given)
}

export function referenceOf(args: readonly (ContextValue | ExpressionReference)[], index: number): ExpressionReference {
  const given = args[index] ?? null
  if (!isReference(given)) throw new RuleError(`argument ${index + 1} is not a reference`)
  return given
}

const STRING = ['string'] as const
/** A function whose arguments are all texts. */
export const ofTexts = (count: number, call: (...texts: string[]) => ContextValue): JmespathFunction => ({
  takes: Array.from({ length: count }, () => STRING),
  call: args => call(...args.map((_, index) => textOf(args, index))),
})
