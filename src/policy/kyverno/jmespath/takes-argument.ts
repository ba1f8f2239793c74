import { type ContextValue, isFields, isList, known } from './values.ts'

/** An expression argument, written `&name`. */
export interface ExpressionReference {
  readonly of: (item: ContextValue) => ContextValue
}

/** Argument types as JMESPath names them. */
export type ArgumentType =
  | 'any'
  | 'string'
  | 'number'
  | 'array'
  | 'object'
  | 'array[number]'
  | 'array[string]'
  | 'expref'

/** Whether an argument has one of the types. */
export function takesArgument(types: readonly ArgumentType[], given: ContextValue | ExpressionReference): boolean {
  if (isReference(given)) return types.includes('expref')
  return types.some(type => {
    if (type === 'any') return true
    const value = known(given)
    if (type === 'array') return isList(value)
    if (type === 'object') return isFields(value)
    if (type === 'string' || type === 'number') return typeof value === type
    const item = type === 'array[number]' ? 'number' : type === 'array[string]' ? 'string' : undefined
    return item !== undefined && isList(value) && value.every(one => typeof known(one) === item)
  })
}

export const isReference = (given: ContextValue | ExpressionReference): given is ExpressionReference =>
  typeof given === 'object' && given !== null && 'of' in given && typeof given.of === 'function'
