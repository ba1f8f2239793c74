import { CelBudgetError, CelError, CelUnknownError } from '../expression.ts'
import { compilePattern, type Match, PatternError } from '../regexp/compile-pattern.ts'
import {
  CelMap,
  type CelValue,
  type CountSteps,
  type FunctionTable,
  isList,
  Time,
  TypeName,
  Unsigned,
} from '../values.ts'
import { durationText, goDouble, timestampText } from './times.ts'

/** How long a formatted text may be. */
const MAX_FORMATTED = 1_000_000

/** Functions of texts that only Kubernetes has: regular expressions, JSON pointers, and `format` of cel-go's ext.Strings. */
export const TEXTS: FunctionTable = {
  functions: {
    'jsonpatch.escapeKey': ([text]) =>
      typeof text === 'string' ? text.replaceAll('~', '~0').replaceAll('/', '~1') : undefined,
  },
  methods: {
    // these only add the API server's cost (pkg/cel/library/cost.go, cel-go interpreter/runtimecost.go); the standard functions compute the result
    contains: ([text, part], spend) => costing(text, part, 10, spend),
    matches: ([text, pattern], spend) => costing(text, pattern, 4, spend),
    // the API server loads an older cel-go string library, which lacks `reverse`
    reverse: ([text]) => {
      if (typeof text === 'string') throw new CelError('no such overload')
      return undefined
    },
    find: ([text, pattern], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return undefined
      return textsOf(findMatches(pattern, text, 1, spend), text)[0] ?? ''
    },
    findAll: ([text, pattern, limit = -1n], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof limit !== 'bigint') return undefined
      return textsOf(findMatches(pattern, text, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit), spend), text)
    },
    format: ([text, args], spend) => {
      if (typeof text !== 'string' || args === undefined || !isList(args)) return undefined
      return formatted(text, args, spend)
    },
  },
}

const textsOf = (matches: readonly Match[], text: string) => matches.map(({ from, to }) => text.slice(from, to))

/** Adds the cost of a search: a tenth of the text's length times a fraction (1/`part`) of the pattern's length. */
function costing(text: CelValue | undefined, other: CelValue | undefined, part: number, spend: CountSteps): undefined {
  if (typeof text === 'string' && typeof other === 'string') spend(((text.length + 1) / 10) * (other.length / part))
  return undefined
}

function formatted(text: string, args: readonly CelValue[], spend: CountSteps): string {
  const made = formatText(text, args)
  if (made.length > MAX_FORMATTED) throw new CelBudgetError(`a text grows beyond ${MAX_FORMATTED} characters`)
  spend(made.length / 10)
  return made
}

const CLAUSE = /%(?:\.(\d{1,3}))?(.)/gsu

/** `format` of cel-go's ext.Strings: %s %d %f %e %b %o %x %X, a precision for %f and %e. Throws CelError. */
function formatText(text: string, args: readonly CelValue[]): string {
  let next = 0
  const made = text.replace(CLAUSE, (_all, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%'
    if (next >= args.length) throw new CelError(`index ${next} out of range`)
    return clause(verb, args[next++]!, precision === undefined ? 6 : Number(precision))
  })
  if (/%$/.test(text.replaceAll('%%', ''))) throw new CelError('unexpected end of string')
  return made
}

function clause(verb: string, value: CelValue, precision: number): string {
  if (verb === 's') return plain(value)
  if (verb === 'd') return decimal(value)
  if (verb === 'f' || verb === 'e') return fixed(verb, value, precision)
  if ('bxXo'.includes(verb)) return inBase(verb, value)
  throw new CelError(`unrecognized formatting clause "${verb}"`)
}

function plain(value: CelValue): string {
  if (typeof value === 'string') return value
  if (value === null) return 'null'
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return goDouble(value)
  if (value instanceof Unsigned) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Time) return value.kind === 'duration' ? durationText(value.nanos) : timestampText(value)
  if (value instanceof TypeName) return value.name
  if (isList(value)) return `[${value.map(plain).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = [...value.entries.values()].map(([key, one]) => `${plain(key)}: ${plain(one)}`)
    return `{${entries.sort().join(', ')}}`
  }
  throw new CelError('string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types')
}

function decimal(value: CelValue): string {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return String(value.value)
  if (typeof value === 'number' && !Number.isFinite(value)) return goDouble(value)
  throw new CelError('decimal clause can only be used on integers')
}

function fixed(verb: string, value: CelValue, precision: number): string {
  const number = typeof value === 'bigint' ? Number(value) : value instanceof Unsigned ? Number(value.value) : value
  if (typeof number !== 'number') throw new CelError('fixed-point clause can only be used on doubles')
  if (!Number.isFinite(number)) return goDouble(number)
  if (precision > 100) throw new CelError('precision is too large')
  if (verb === 'f') return number.toFixed(precision)
  const [mantissa, exponent = '+0'] = number.toExponential(precision).split('e')
  const digits = [...exponent.slice(1).padStart(2, '0')].map(digit => SUPERSCRIPTS[Number(digit)])
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${digits.join('')}`
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 }

function inBase(verb: string, value: CelValue): string {
  const upper = (text: string) => (verb === 'X' ? text.toUpperCase() : text)
  if (typeof value === 'boolean' && verb === 'b') return value ? '1' : '0'
  if (typeof value === 'bigint') return upper(value.toString(BASES[verb]))
  if (value instanceof Unsigned) return upper(value.value.toString(BASES[verb]))
  if (verb.toLowerCase() === 'x' && typeof value === 'string') return upper(Buffer.from(value).toString('hex'))
  if (verb.toLowerCase() === 'x' && value instanceof Uint8Array) return upper(Buffer.from(value).toString('hex'))
  throw new CelError('only integers can be formatted so')
}

/** Where the regular expression finds something, as Go's FindAllString. Throws CelError for what Go's regexp refuses. */
export function findMatches(pattern: string, text: string, limit: number, spend: CountSteps): readonly Match[] {
  return readable(() => compilePattern(pattern)).find(text, limit, spend)
}

function readable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    if (error.invalid) throw new CelError(`Illegal regex: ${error.message}`)
    throw new CelUnknownError(`a regular expression contains ${error.message}, which is not supported`)
  }
}
