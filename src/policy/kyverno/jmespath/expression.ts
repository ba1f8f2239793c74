import type { ContextValue } from './values.ts'

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/** How a projection selects the items of a list or the values of an object. */
export type Projection =
  | { readonly type: 'flatten'; readonly of: JmespathExpression }
  | { readonly type: 'items' | 'values'; readonly left: JmespathExpression; readonly right: JmespathExpression }
  | {
      readonly type: 'filter'
      readonly left: JmespathExpression
      readonly right: JmespathExpression
      readonly condition: JmespathExpression
    }

export type JmespathExpression =
  | { readonly type: 'current' }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'literal'; readonly value: ContextValue }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly parts: readonly (number | undefined)[] }
  | { readonly type: 'not' | 'reference'; readonly of: JmespathExpression }
  | {
      readonly type: 'sub' | 'pipe' | 'or' | 'and'
      readonly left: JmespathExpression
      readonly right: JmespathExpression
    }
  | Projection
  | {
      readonly type: 'compare'
      readonly operator: Comparison
      readonly left: JmespathExpression
      readonly right: JmespathExpression
    }
  | { readonly type: 'list'; readonly of: readonly JmespathExpression[] }
  | { readonly type: 'fields'; readonly of: readonly (readonly [string, JmespathExpression])[] }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly JmespathExpression[] }
