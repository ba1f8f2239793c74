import { argument, fieldsOf, type KyvernoFunctions, listOf, numberOf, textOf } from './jmespath-function.ts'
import { parseJson, parseYaml } from './parse-text.ts'
import { plainText } from './plain-text.ts'
import { type ContextValue, isFields, isList, isSame, jsonText, RuleError } from './values.ts'

/** Object and type functions, including Kyverno's. */
export const OBJECT_FUNCTIONS: KyvernoFunctions = {
  keys: { takes: [['object']], call: args => [...fieldsOf(args, 0).keys()] },
  values: { takes: [['object']], call: args => [...fieldsOf(args, 0).values()] },
  merge: {
    takes: [['object']],
    isVariadic: true,
    call: args => new Map(args.flatMap((_, index) => [...fieldsOf(args, index)])),
  },
  type: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      if (value === null) return 'null'
      return isList(value) ? 'array' : isFields(value) ? 'object' : typeof value
    },
  },
  to_string: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      return typeof value === 'string' ? value : jsonText(value)
    },
  },
  to_number: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      return typeof value === 'string' ? (readFloat(value) ?? null) : typeof value === 'number' ? value : null
    },
  },
  label_match: {
    takes: [['object'], ['object']],
    call: args => {
      const given = fieldsOf(args, 1)
      return [...fieldsOf(args, 0)].every(([key, value]) => given.has(key) && isSame(value, given.get(key)!))
    },
  },
  lookup: {
    takes: [
      ['object', 'array'],
      ['string', 'number'],
    ],
    call: args => lookedUp(argument(args, 0), args),
  },
  items: {
    takes: [['object', 'array'], ['string'], ['string']],
    call: args => {
      const [value, key, item] = [argument(args, 0), textOf(args, 1), textOf(args, 2)]
      const entries: [ContextValue, ContextValue][] = isFields(value)
        ? [...value].sort(([a], [b]) => (a < b ? -1 : 1))
        : listOf(args, 0).map((one, index) => [index, one])
      return entries.map(([name, one]) => new Map<string, ContextValue>([...[[key, name] as const], [item, one]]))
    },
  },
  object_from_lists: {
    takes: [['array'], ['array']],
    call: args => {
      const values = listOf(args, 1)
      return new Map(listOf(args, 0).map((key, index) => [plainText(key), values[index] ?? null]))
    },
  },
  parse_json: { takes: [['string']], call: args => parseJson(textOf(args, 0)) },
  parse_yaml: { takes: [['string']], call: args => parseYaml(textOf(args, 0)) },
}

function lookedUp(value: ContextValue, args: Parameters<typeof argument>[0]): ContextValue {
  if (isFields(value)) return value.get(textOf(args, 1)) ?? null
  const index = numberOf(args, 1)
  if (!Number.isInteger(index)) throw new RuleError('lookup: the index is not an integer')
  return index < 0 ? null : (listOf(args, 0)[index] ?? null)
}

/** Parses a decimal number as Go's strconv.ParseFloat does. */
export function readFloat(text: string): number | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}
