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
