import type { Json } from '../../kube/node.ts'
import type { Expression } from './parse-cel.ts'

/** A value that is not known here, or that CEL would refuse to work out. */
export const UNKNOWN = Symbol('unknown')
export type Value = Json | typeof UNKNOWN

/** What names stand for. */
type Names = ReadonlyMap<string, Value>

/** Works an expression out. `onField` hears of each field of a name that is looked at, as `object.spec.url`. */
export function evaluateCel(expression: Expression, names: Names, onField: (path: string) => void): Value {
  const at = (one: Expression) => evaluateCel(one, names, onField)
  switch (expression.type) {
    case 'literal':
      return expression.value
    case 'list': {
      const items = expression.items.map(at)
      return isKnown(items) ? items : UNKNOWN
    }
    case 'name': {
      const value = names.get(expression.name)
      return value === undefined ? UNKNOWN : value
    }
    case 'field': {
      const path = pathOf(expression)
      if (path !== undefined) onField(path)
      return member(at(expression.of), expression.name)
    }
    case 'index': {
      const key = at(expression.at)
      return typeof key === 'string' ? member(at(expression.of), key) : UNKNOWN
    }
    case 'not': {
      const value = at(expression.of)
      return typeof value === 'boolean' ? !value : UNKNOWN
    }
    case 'choice': {
      const value = at(expression.of)
      return typeof value === 'boolean' ? at(value ? expression.then : expression.otherwise) : UNKNOWN
    }
    case 'binary':
      return binary(expression.operator, at(expression.left), () => at(expression.right))
    case 'call':
      return call(expression, names, onField)
  }
}

const isKnown = (values: readonly Value[]): values is Json[] => !values.includes(UNKNOWN)

function pathOf(expression: Expression): string | undefined {
  if (expression.type === 'name') return expression.name
  const of = expression.type === 'field' ? pathOf(expression.of) : undefined
  return expression.type === 'field' && of !== undefined ? `${of}.${expression.name}` : undefined
}

/** A field that is not there is an error in CEL. */
function member(value: Value, name: string): Value {
  if (value === UNKNOWN || value === null || typeof value !== 'object' || Array.isArray(value)) return UNKNOWN
  return Object.hasOwn(value, name) ? value[name]! : UNKNOWN
}

/** `&&` and `||` take the side that decides, whatever the other one is. */
function binary(operator: string, left: Value, rightOf: () => Value): Value {
  if (operator === '&&' || operator === '||') {
    const decides = operator === '||'
    if (left === decides) return decides
    const right = rightOf()
    if (right === decides) return decides
    return left === !decides && right === !decides ? !decides : UNKNOWN
  }
  const right = rightOf()
  if (left === UNKNOWN || right === UNKNOWN) return UNKNOWN
  if (operator === 'in') {
    if (Array.isArray(right)) return right.some(one => one === left)
    return typeof left === 'string' && right !== null && typeof right === 'object'
      ? Object.hasOwn(right, left)
      : UNKNOWN
  }
  if ([left, right].some(one => one !== null && typeof one === 'object')) return UNKNOWN
  return operator === '==' ? left === right : left !== right
}

function call(expression: Expression & { type: 'call' }, names: Names, onField: (path: string) => void): Value {
  const { of, name, args } = expression
  const [first, second] = args
  const at = (one: Expression, more: Names = names) => evaluateCel(one, more, onField)
  if (name === 'has' && !of && first?.type === 'field' && !second) {
    const holder = at(first.of)
    if (holder === UNKNOWN || holder === null || typeof holder !== 'object') return UNKNOWN
    return !Array.isArray(holder) && Object.hasOwn(holder, first.name)
  }
  if (!of) return name === 'size' && first && !second ? sizeOf(at(first)) : UNKNOWN
  const value = at(of)
  if ((name === 'exists' || name === 'all') && first?.type === 'name' && second && Array.isArray(value)) {
    const answers = value.map(item => at(second, new Map([...names, [first.name, item]])))
    const decides = name === 'exists'
    if (answers.includes(decides)) return decides
    return answers.every(answer => answer === !decides) ? !decides : UNKNOWN
  }
  if (name === 'size' && !first) return sizeOf(value)
  return typeof value === 'string'
    ? ofText(
        value,
        name,
        args.map(arg => at(arg)),
      )
    : UNKNOWN
}

const sizeOf = (value: Value): Value =>
  typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : UNKNOWN

function ofText(text: string, name: string, args: readonly Value[]): Value {
  const [first] = args
  if (name === 'lowerAscii' && args.length === 0) return text.replace(/[A-Z]/g, letter => letter.toLowerCase())
  if (name === 'trim' && args.length === 0) return text.trim()
  if (typeof first !== 'string' || args.length !== 1) return UNKNOWN
  if (name === 'startsWith') return text.startsWith(first)
  if (name === 'endsWith') return text.endsWith(first)
  if (name === 'contains') return text.includes(first)
  if (name === 'split') return text.split(first)
  return name === 'matches' ? matches(first, text) : UNKNOWN
}

/** A regular expression that RE2 and JavaScript read alike and that takes no time: no group repeated, two repetitions at most. */
function matches(pattern: string, text: string): Value {
  const plain = pattern.replace(/\\[.\-/+*?()[\]{}|^$\\]/g, 'x')
  const isSimple = !/\\|\(\?|\)[*+?{]|\[\[|\[\^?\]/.test(plain) && (plain.match(/[*+{]/g) ?? []).length <= 2
  if (!isSimple || pattern.length > 500 || text.length > 2000) return UNKNOWN
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch (error) {
    if (error instanceof SyntaxError) return UNKNOWN
    throw error
  }
}
