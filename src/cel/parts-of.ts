import type { CelExpression } from './expression.ts'

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
