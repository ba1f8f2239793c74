import { createHash } from 'node:crypto'
import { BailiwickError } from '../../base/errors.ts'
import { type Json, toJson } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { CelBudgetError, CelError, CelUnknownError } from '../expression.ts'
import type { Match } from '../regexp/compile-pattern.ts'
import {
  CelMap,
  type CelValue,
  type CountSteps,
  compare,
  type FunctionTable,
  isList,
  NotKnown,
  Optional,
  Unsigned,
} from '../values.ts'
import { findSubmatches } from './texts.ts'

const MAX_TEXT = 1_000_000
const MAX_DEPTH = 100

/** Hashes, JSON and YAML (kyverno/sdk extensions/cel/libs/{hash,json,yaml}). */
export const DOCUMENTS: FunctionTable = {
  functions: {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha256'].flatMap(name => [
        [name, hashWith(name)],
        [`hash.${name}`, hashWith(name)],
      ]),
    ),
    'json.unmarshal': ([text], spend) => (typeof text === 'string' ? parsed(text, spend) : undefined),
    'json.marshal': ([value], spend) => (value === undefined ? undefined : jsonText(value, spend, 0)),
    'yaml.parse': ([text], spend) => (typeof text === 'string' ? yamlValue(text, spend) : undefined),
  },
}

function hashWith(algorithm: string) {
  return ([text]: readonly CelValue[], spend: CountSteps) => {
    if (typeof text !== 'string') return undefined
    spend(text.length / 10)
    return createHash(algorithm).update(text).digest('hex')
  }
}

function checkSize(text: string, spend: CountSteps): void {
  if (text.length > MAX_TEXT) throw new CelBudgetError(`it reads a document of more than ${MAX_TEXT} characters`)
  spend(text.length / 10)
}

function parsed(text: string, spend: CountSteps): CelValue {
  checkSize(text, spend)
  if (depthOf(text) > MAX_DEPTH) throw tooDeep()
  try {
    return doubles(JSON.parse(text) as Json)
  } catch (error) {
    if (error instanceof SyntaxError) throw new CelError('invalid JSON')
    throw error
  }
}

const tooDeep = () => new CelBudgetError(`it reads or writes a document of more than ${MAX_DEPTH} levels`)

/** Brackets that are open at once. */
function depthOf(text: string): number {
  let [depth, most] = [0, 0]
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (mark === '[' || mark === '{') most = Math.max(most, ++depth)
    else if (mark === ']' || mark === '}') depth--
  }
  return most
}

/** Go decodes every number of JSON as a double. */
function doubles(json: Json): CelValue {
  if (Array.isArray(json)) return json.map(doubles)
  if (json === null || typeof json !== 'object') return json
  return new CelMap(new Map(Object.entries(json).map(([key, item]) => [`s${key}`, [key, doubles(item)] as const])))
}

function yamlValue(text: string, spend: CountSteps): CelValue {
  checkSize(text, spend)
  try {
    const [root] = parseDocuments({ repository: '', path: 'yaml.parse' }, new TextEncoder().encode(text))
    return root ? doubles(toJson(root)) : null
  } catch (error) {
    // YAML readers disagree on it, so it is not certainly an error
    if (error instanceof BailiwickError)
      throw new CelUnknownError(`yaml.parse of a text that is not read: ${error.message}`)
    throw error
  }
}

/** As Go encodes JSON: sorted keys, escaped HTML characters. */
function jsonText(value: CelValue, spend: CountSteps, depth: number): string {
  spend(1)
  if (depth > MAX_DEPTH) throw tooDeep()
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return quoted(value, spend)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return String(value.value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CelError('json: unsupported value')
    return String(value)
  }
  if (value instanceof NotKnown) throw new CelUnknownError(value.why)
  if (isList(value)) return `[${value.map(item => jsonText(item, spend, depth + 1)).join(',')}]`
  if (!(value instanceof CelMap)) throw new CelUnknownError('json.marshal of a value that is not JSON')
  const entries = [...value.entries.values()].map(([key, item]) => {
    if (typeof key !== 'string') throw new CelError('json: unsupported map key type')
    return [key, item] as const
  })
  entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${entries.map(([key, item]) => `${quoted(key, spend)}:${jsonText(item, spend, depth + 1)}`).join(',')}}`
}

function quoted(text: string, spend: CountSteps): string {
  spend(text.length / 10)
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** cel-go's ext.Math, and `math.round` with a number of digits (kyverno/sdk extensions/cel/libs/math). */
export const MATH: FunctionTable = {
  functions: {
    'math.greatest': args => extreme(args, 1),
    'math.least': args => extreme(args, -1),
    'math.ceil': ofDouble(Math.ceil),
    'math.floor': ofDouble(Math.floor),
    'math.trunc': ofDouble(Math.trunc),
    'math.round': ([value, digits]) => {
      if (typeof value !== 'number') return undefined
      if (digits === undefined) return awayFromZero(value)
      return typeof digits === 'bigint' ? awayFromZero(value * 10 ** Number(digits)) / 10 ** Number(digits) : undefined
    },
    'math.sqrt': ([value]) => (isNumber(value) ? Math.sqrt(Number(plain(value))) : undefined),
    'math.isNaN': ([value]) => (typeof value === 'number' ? Number.isNaN(value) : undefined),
    'math.isInf': ([value]) => (typeof value === 'number' ? Math.abs(value) === Number.POSITIVE_INFINITY : undefined),
    'math.isFinite': ([value]) => (typeof value === 'number' ? Number.isFinite(value) : undefined),
    'math.abs': ([value]) => {
      if (typeof value === 'bigint') return value === MIN_INT ? overflow() : value < 0n ? -value : value
      return typeof value === 'number' ? Math.abs(value) : value instanceof Unsigned ? value : undefined
    },
    'math.sign': ([value]) => {
      if (typeof value === 'bigint') return value > 0n ? 1n : value < 0n ? -1n : 0n
      if (value instanceof Unsigned) return new Unsigned(value.value > 0n ? 1n : 0n)
      return typeof value === 'number' ? Math.sign(value) : undefined
    },
    'math.bitAnd': bits((a, b) => a & b),
    'math.bitOr': bits((a, b) => a | b),
    'math.bitXor': bits((a, b) => a ^ b),
    'math.bitNot': ([value]) => {
      if (value instanceof Unsigned) return new Unsigned(BigInt.asUintN(64, ~value.value))
      return typeof value === 'bigint' ? ~value : undefined
    },
    'math.bitShiftLeft': shift((value, by) => value << by),
    'math.bitShiftRight': shift((value, by) => value >> by),
  },
}

const MIN_INT = -(2n ** 63n)

function overflow(): never {
  throw new CelError('integer overflow')
}

const isNumber = (value: CelValue | undefined): value is bigint | number | Unsigned =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Unsigned

const plain = (value: bigint | number | Unsigned) => (value instanceof Unsigned ? value.value : value)

/** Of numbers of all types, or of one list of them. */
function extreme(args: readonly CelValue[], wanted: 1 | -1): CelValue | undefined {
  const [first] = args
  const all = args.length === 1 && first !== undefined && isList(first) ? first : args
  if (all.length === 0) throw new CelError('math.@max(list) argument must not be empty')
  if (!all.every(isNumber)) return undefined
  return all.reduce((best, one) => (compare(one, best) * wanted > 0 ? one : best))
}

function ofDouble(change: (value: number) => number) {
  return ([value]: readonly CelValue[]) => (typeof value === 'number' ? change(value) : undefined)
}

/** As Go's math.Round: half away from zero. */
function awayFromZero(value: number): number {
  const whole = Math.trunc(value)
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
}

function bits(change: (a: bigint, b: bigint) => bigint) {
  return ([a, b]: readonly CelValue[]): CelValue | undefined => {
    if (a instanceof Unsigned && b instanceof Unsigned) return new Unsigned(change(a.value, b.value))
    return typeof a === 'bigint' && typeof b === 'bigint' ? change(a, b) : undefined
  }
}

function shift(change: (value: bigint, by: bigint) => bigint) {
  return ([value, by]: readonly CelValue[]): CelValue | undefined => {
    if (typeof by !== 'bigint' || !(typeof value === 'bigint' || value instanceof Unsigned)) return undefined
    if (by < 0n) throw new CelError('math shift negative offset')
    const moved = by > 63n ? 0n : change(BigInt.asUintN(64, typeof value === 'bigint' ? value : value.value), by)
    return value instanceof Unsigned ? new Unsigned(BigInt.asUintN(64, moved)) : BigInt.asIntN(64, moved)
  }
}

/** cel-go's ext.Regex, version 1, which Kyverno loads and the API server does not. */
export const REGEX: FunctionTable = {
  functions: {
    'regex.extract': ([text, pattern, ...more], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || more.length > 0) return undefined
      const [first] = extracted(text, pattern, 1, spend)
      return new Optional(first)
    },
    'regex.extractAll': ([text, pattern, ...more], spend) => {
      if (typeof text !== 'string' || typeof pattern !== 'string' || more.length > 0) return undefined
      return extracted(text, pattern, Number.POSITIVE_INFINITY, spend)
    },
    'regex.replace': (args, spend) => {
      const [text, pattern, to, count = -1n] = args
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof to !== 'string') return undefined
      if (typeof count !== 'bigint' || args.length > 4) return undefined
      return count === 0n ? text : replaced(text, pattern, to, count < 0n ? undefined : count, spend)
    },
  },
}

/** The group of each match, or the match where there is none; an empty group counts as no match. */
function extracted(text: string, pattern: string, limit: number, spend: CountSteps): CelValue[] {
  const { groups, matches } = findSubmatches(pattern, text, limit, spend)
  if (groups > 1) throw new CelError(`regular expression has more than one capturing group: "${pattern}"`)
  return matches.flatMap(match => {
    const found = match.groups[groups]!
    return groups === 1 && found === '' ? [] : [found]
  })
}

function replaced(text: string, pattern: string, to: string, count: bigint | undefined, spend: CountSteps): string {
  const limit = count === undefined || count > BigInt(text.length) ? Number.POSITIVE_INFINITY : Number(count)
  const { groups, matches } = findSubmatches(pattern, text, limit, spend)
  const parts: string[] = []
  let last = 0
  for (const match of matches) {
    const put = withGroups(to, match, groups)
    spend(1 + put.length / 10)
    parts.push(text.slice(last, match.from), put)
    last = match.to
  }
  return parts.join('') + text.slice(last)
}

/** The replacement of a match: `\\N` is a group, `\\\\` a backslash. */
function withGroups(to: string, match: Match, groups: number): string {
  return to.replaceAll(/\\(.?)/gsu, (_, next: string) => {
    if (next === '\\') return next
    if (next === '') throw new CelError(`invalid replacement string: '${to}' \\ not allowed at end`)
    if (!/^[0-9]$/.test(next))
      throw new CelError(`invalid replacement string: '${to}' \\ must be followed by a digit or \\`)
    if (Number(next) > groups)
      throw new CelError(`replacement string references group ${next} but regex has only ${groups} group(s)`)
    return match.groups[Number(next)]!
  })
}
