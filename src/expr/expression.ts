/** A CEL expression, parsed. */
export type CelExpression =
  | { readonly type: 'literal'; readonly value: Literal }
  | { readonly type: 'list'; readonly items: readonly Item[] }
  | { readonly type: 'map'; readonly entries: readonly Entry[] }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'field'; readonly of: CelExpression; readonly name: string; readonly optional: boolean }
  | { readonly type: 'index'; readonly of: CelExpression; readonly at: CelExpression; readonly optional: boolean }
  | { readonly type: 'has'; readonly of: CelExpression; readonly name: string }
  | {
      readonly type: 'call'
      readonly of: CelExpression | undefined
      readonly name: string
      readonly args: readonly CelExpression[]
    }
  | {
      readonly type: 'macro'
      readonly of: CelExpression
      readonly macro: Macro
      readonly variable: string
      /** With two variables: the first is the index or key, this one the value. */
      readonly second?: string
      readonly args: readonly CelExpression[]
    }
  | { readonly type: 'unary'; readonly operator: '!' | '-'; readonly of: CelExpression }
  | {
      readonly type: 'binary'
      readonly operator: BinaryOperator
      readonly left: CelExpression
      readonly right: CelExpression
    }
  | { readonly type: 'choice'; readonly of: CelExpression; readonly yes: CelExpression; readonly no: CelExpression }

/** Integers are bigint; unsigned ones are marked. */
export type Literal = null | boolean | string | number | bigint | { readonly unsigned: bigint } | Uint8Array

interface Item {
  readonly value: CelExpression
  readonly optional: boolean
}

interface Entry {
  readonly key: CelExpression
  readonly value: CelExpression
  readonly optional: boolean
}

export const MACROS = ['all', 'exists', 'exists_one', 'map', 'filter', 'optMap', 'optFlatMap'] as const
/** Macros with two variables, which only Kubernetes has (cel-go's ext.TwoVarComprehensions). */
export const TWO_VARIABLE_MACROS = [
  ...['all', 'exists', 'exists_one', 'existsOne'],
  ...['transformList', 'transformMap', 'transformMapEntry'],
] as const
export type Macro = (typeof MACROS)[number] | 'sortBy' | (typeof TWO_VARIABLE_MACROS)[number]

export type BinaryOperator = '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'

/** The direct subexpressions of an expression, including those in which a macro's variables are visible. */
export function partsOf(expression: CelExpression): readonly CelExpression[] {
  switch (expression.type) {
    case 'list':
      return expression.items.map(item => item.value)
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value])
    case 'field':
    case 'has':
    case 'unary':
      return [expression.of]
    case 'index':
      return [expression.of, expression.at]
    case 'call':
      return [...(expression.of ? [expression.of] : []), ...expression.args]
    case 'binary':
      return [expression.left, expression.right]
    case 'choice':
      return [expression.of, expression.yes, expression.no]
    case 'macro':
      return [expression.of, ...expression.args]
    default:
      return []
  }
}

/** Whether an expression reads a name that no macro around it declares. */
export function reads(expression: CelExpression, name: string): boolean {
  if (expression.type === 'name') return expression.name === name
  if (expression.type !== 'macro') return partsOf(expression).some(part => reads(part, name))
  const isInner = expression.variable === name || expression.second === name
  return reads(expression.of, name) || (!isInner && expression.args.some(arg => reads(arg, name)))
}

/** The expression is not CEL, or uses something that is not supported here. */
export class CelSyntaxError extends Error {}

/** The expression is larger than what is read here; another program may read it. */
export class CelLimitError extends CelSyntaxError {}

/** The expression cannot be worked out for this input: `&&` and `||` may do without. */
export class CelError extends Error {}

/** The expression takes too much work, whatever the input is. */
export class CelBudgetError extends Error {}

/** The result depends on what only the cluster knows: `&&` and `||` may do without. */
export class CelUnknownError extends Error {}

/**
 * Throws CelBudgetError for a text that is longer than what is worked out here and, by its characters, may be what is looked
 * for: the API server has no such limit, so neither yes nor no would be true.
 */
export function refuseLong(text: string, most: number, mayBe = /^/): void {
  if (text.length > most && mayBe.test(text)) throw new CelBudgetError(`a text of more than ${most} characters`)
}
