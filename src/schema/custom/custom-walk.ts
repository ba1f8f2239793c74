import { parseUrl } from '../../expr/libraries/addresses.ts'
import { canonical, isNull, type MapNode, type Node, type Path } from '../../kube/node.ts'
import { isUnknown, type Problem, writtenAs } from '../core/problem.ts'
import { isCidr, isIP, matchesText } from '../core/texts.ts'
import { keyOf, MAX_PROBLEMS } from '../type-walk.ts'
import { type CustomSchema, jsonNode } from './custom-schema.ts'

/** Fields that every object has, whatever its schema says. */
export const OBJECT_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Compares an object, with its defaults, with a structural schema. Unknown fields and keys of lists count; inside
 * `allOf`, `anyOf`, `oneOf` and `not` they do not.
 */
export class CustomWalk implements ValueListener {
  readonly problems: Problem[] = []
  count = 0
  /** Number of values for which it is not known whether they are allowed. */
  undecided = 0
  /** The path of the current value. One list serves all fields, because most have no problem; `problem` copies it. */
  readonly #path: (string | number)[]

  /** `start`: path of the first value in its object. */
  constructor(start: Path = []) {
    this.#path = [...start]
  }

  /** Adds a problem; its path is copied. */
  problem(problem: Problem): void {
    this.count += 1
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ ...problem, path: [...problem.path] })
  }

  unsure(): void {
    this.undecided += 1
  }

  value(node: Node, schema: CustomSchema, isStructural: boolean): void {
    if (isUnknown(node)) {
      this.unsure()
      return
    }
    if (isNull(node) && (schema.isNullable || (schema.type === '' && !schema.isIntOrString))) return
    const allowed = typeMissed(node, schema)
    if (allowed !== undefined) {
      this.problem({ kind: 'wrong-type', path: this.#path, allowed, found: writtenAs(node) })
      return
    }
    if (schema.isBounded) valueProblems(node, schema, this.#path, this)
    if (node.type === 'map') this.#map(node, schema, isStructural)
    else if (node.type === 'list') {
      if (isStructural && schema.keys.length > 0) this.#duplicates(node.items, schema)
      if (schema.items !== undefined)
        for (let index = 0; index < node.items.length; index++)
          this.#below(index, node.items[index]!, schema.items, isStructural)
    }
    this.#logic(node, schema)
  }

  #below(key: string | number, node: Node, schema: CustomSchema, isStructural: boolean): void {
    if (schema.isPlainText && isText(node) && !isUnknown(node)) return
    this.#path.push(key)
    this.value(node, schema, isStructural)
    this.#path.pop()
  }

  #map(node: MapNode, schema: CustomSchema, isStructural: boolean): void {
    const isRoot = this.#path.length === 0
    const isObject = isStructural && (isRoot || schema.isEmbedded)
    for (const [key, { value }] of node.fields) {
      // applied objects need no status: controllers write it
      if (isRoot && key === 'status') continue
      const inner = schema.properties.get(key) ?? schema.additional
      // metadata has the same fields in every object
      if (inner !== undefined) this.#below(key, value, inner, isStructural && !(isObject && key === 'metadata'))
      else if (isStructural && !schema.isOpen && !(isObject && OBJECT_FIELDS.has(key))) this.#unknown(key, schema)
    }
    for (const key of schema.required) this.#required(key, node, isRoot)
    if (isObject && !isRoot) for (const key of NEEDED_IN_OBJECTS) this.#required(key, node, isRoot)
  }

  #required(key: string, node: MapNode, isRoot: boolean): void {
    if (node.fields.has(key) || (isRoot && key === 'status')) return
    this.problem({ kind: 'missing-field', path: [...this.#path, key], allowed: 'a value', found: 'nothing' })
  }

  #unknown(key: string, { properties }: CustomSchema): void {
    const names = [...properties.keys()]
    const path = [...this.#path, key]
    this.problem({ kind: 'unknown-field', path, allowed: names.join(', '), found: 'an unknown field', names })
  }

  #duplicates(items: readonly Node[], { keys }: CustomSchema): void {
    const seen = new Set<string>()
    for (const [index, item] of items.entries()) {
      const key = keyOf(item, keys, NO_DEFAULTS)
      if (key !== undefined && seen.has(key)) {
        const allowed = keys === '=' ? 'each value once' : `each ${keys.join(' and ')} once`
        this.problem({ kind: 'duplicate', path: [...this.#path, index], allowed, found: 'a duplicate' })
      }
      if (key !== undefined) seen.add(key)
    }
  }

  #logic(node: Node, schema: CustomSchema): void {
    for (const part of schema.all) this.value(node, part, false)
    if (schema.any.length > 0) {
      const fits = schema.any.map(part => this.#fits(node, part))
      if (!fits.includes(true)) fits.includes(undefined) ? this.unsure() : this.#noMatch(alternatives(schema.any))
    }
    if (schema.one.length > 0) {
      const fits = schema.one.map(part => this.#fits(node, part))
      if (fits.includes(undefined)) this.unsure()
      else if (fits.filter(Boolean).length !== 1) this.#noMatch(`exactly one of: ${alternatives(schema.one)}`)
    }
    if (schema.not === undefined) return
    const fits = this.#fits(node, schema.not)
    if (fits === undefined) this.unsure()
    else if (fits) this.#noMatch('another value')
  }

  #noMatch(allowed: string): void {
    this.problem({ kind: 'no-match', path: this.#path, allowed, found: 'another value' })
  }

  /** Whether a value is valid; undefined if not known. */
  #fits(node: Node, schema: CustomSchema): boolean | undefined {
    const walk = new CustomWalk(this.#path)
    walk.value(node, schema, false)
    if (walk.count > 0) return false
    return walk.undecided === 0 ? true : undefined
  }
}

/** What a schema with `x-kubernetes-int-or-string` allows. */
const INT_OR_TEXT = 'a whole number, or a string'

/** Fields that an object inside of another must have. */
export const NEEDED_IN_OBJECTS = ['apiVersion', 'kind']
/** The value already has its defaults. */
const NO_DEFAULTS: ReadonlyMap<string, string> = new Map()

/** The type that a schema demands, in words; undefined where the value is of it. */
export function typeMissed(node: Node, { type, isIntOrString }: CustomSchema): string | undefined {
  if (isIntOrString) return isWhole(node) || isText(node) ? undefined : INT_OR_TEXT
  switch (type) {
    case 'object':
      return node.type === 'map' ? undefined : 'a map'
    case 'array':
      return node.type === 'list' ? undefined : 'a list'
    case 'string':
      return isText(node) ? undefined : 'a string, in quotes'
    case 'boolean':
      return node.type === 'scalar' && typeof node.value === 'boolean' ? undefined : 'true or false'
    case 'integer':
      return isWhole(node) ? undefined : 'a whole number'
    case 'number':
      return isNumber(node) ? undefined : 'a number'
    default:
      return undefined
  }
}

const isText = (node: Node): boolean => node.type === 'scalar' && typeof node.value === 'string'
const isNumber = (node: Node): boolean =>
  node.type === 'scalar' && (typeof node.value === 'number' || typeof node.value === 'bigint')
/** A whole number of 64 bits: the API server reads a larger one as a number with a fraction. */
function isWhole(node: Node): boolean {
  if (node.type !== 'scalar') return false
  const { value } = node
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value
  return typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
}

/** Most alternatives require a field. */
function alternatives(list: readonly CustomSchema[]): string {
  const required = list.map(schema => schema.required.join(' and ')).filter(Boolean)
  return required.length === list.length ? required.join(', or ') : 'what one of the alternatives of its schema allows'
}

/** Receives the findings of a value. */
export interface ValueListener {
  problem(problem: Problem): void
  /** It is not known whether a value is allowed. */
  unsure(): void
}

/** The problems of one value alone: words, bounds, pattern and format (k8s.io/kube-openapi, pkg/validation/validate). */
export function valueProblems(node: Node, schema: CustomSchema, path: Path, heard: ValueListener): void {
  if (schema.words && !isWord(node, schema.words)) {
    const names = schema.words.filter(word => typeof word === 'string')
    heard.problem({ kind: 'not-allowed', path, allowed: names.join(', '), found: 'another value', names })
  }
  const { bounds } = schema
  if (node.type === 'map')
    checkCount(node.fields.size, bounds.minProperties, bounds.maxProperties, 'fields', path, heard)
  else if (node.type === 'list') {
    checkCount(node.items.length, bounds.minItems, bounds.maxItems, 'items', path, heard)
    if (schema.isUnique && new Set(node.items.map(canonical)).size < node.items.length)
      heard.problem({ kind: 'duplicate', path, allowed: 'each item once', found: 'a duplicate' })
  } else if (typeof node.value === 'string') checkText(node.value, schema, path, heard)
  else if (typeof node.value === 'number' || typeof node.value === 'bigint')
    checkNumber(node.value, schema, path, heard)
}

const isWord = (node: Node, words: NonNullable<CustomSchema['words']>): boolean =>
  (node.type === 'scalar' && typeof node.value === 'string' && words.includes(node.value)) ||
  words.some(word => canonical(jsonNode(word)) === canonical(node))

function checkCount(
  count: number,
  least: number | undefined,
  most: number | undefined,
  name: string,
  path: Path,
  heard: ValueListener,
): void {
  const bad = (allowed: string) =>
    heard.problem({ kind: 'bad-format', path, allowed, found: `a value of ${count} ${name}` })
  if (least !== undefined && count < least) bad(`a value of at least ${least} ${name}`)
  if (most !== undefined && count > most) bad(`a value of at most ${most} ${name}`)
}

function checkText(text: string, { bounds, pattern, format }: CustomSchema, path: Path, heard: ValueListener): void {
  const { minLength, maxLength } = bounds
  // a character has one or two units
  const isCounted = text.length < 2 * (minLength ?? 0) || text.length > (maxLength ?? Infinity)
  if (isCounted) checkCount([...text].length, minLength, maxLength, 'characters', path, heard)
  if (pattern !== '') {
    const answer = matchesText(pattern, text)
    if (answer === undefined) heard.unsure()
    if (answer === false)
      heard.problem({
        kind: 'bad-format',
        path,
        allowed: `text that matches ${pattern}`,
        found: 'text that does not match',
      })
  }
  const problem = format === '' ? undefined : formatProblem(text, format, path)
  if (problem === 'unsure') heard.unsure()
  else if (problem) heard.problem(problem)
}

function checkNumber(value: number | bigint, { bounds, format }: CustomSchema, path: Path, heard: ValueListener): void {
  const number = Number(value)
  const bad = (allowed: string) => heard.problem({ kind: 'bad-format', path, allowed, found: 'another number' })
  const { minimum: least, maximum: most, multipleOf: step, isMoreThan, isLessThan } = bounds
  if (least !== undefined && (number < least || (number === least && isMoreThan)))
    bad(`a number of ${isMoreThan ? 'more than' : 'at least'} ${least}`)
  if (most !== undefined && (number > most || (number === most && isLessThan)))
    bad(`a number of ${isLessThan ? 'less than' : 'at most'} ${most}`)
  if (step !== undefined && !Number.isInteger(number / step)) bad(`a multiple of ${step}`)
  if (format === 'int32' && Number.isInteger(number) && (number < -(2 ** 31) || number >= 2 ** 31))
    bad('a whole number of 32 bits')
}

const UUID = 'a UUID such as 0d2f2f6e-1c2b-4a7d-9d3e-5a6b7c8d9e0f'
/** Of a text that is compared with a format. */
const LONGEST = 10_000
const LONGEST_HOST = 255
const HOST =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

const matching = (pattern: RegExp) => (text: string) => pattern.test(text)

/** Formats and the texts that the API server accepts (k8s.io/kube-openapi, pkg/validation/strfmt). */
const FORMATS: ReadonlyMap<string, readonly [fits: (text: string) => boolean, allowed: string]> = new Map([
  [
    'date-time',
    [
      matching(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/),
      'a time such as 2026-01-31T12:00:00Z',
    ],
  ],
  ['date', [matching(/^\d{4}-\d\d-\d\d$/), 'a date such as 2026-01-31']],
  ['uuid', [matching(/^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i), UUID]],
  ['uuid3', [matching(/^[\da-f]{8}-?[\da-f]{4}-?3[\da-f]{3}-?[\da-f]{4}-?[\da-f]{12}$/i), UUID]],
  ['uuid4', [matching(/^[\da-f]{8}-?[\da-f]{4}-?4[\da-f]{3}-?[89ab][\da-f]{3}-?[\da-f]{12}$/i), UUID]],
  ['uuid5', [matching(/^[\da-f]{8}-?[\da-f]{4}-?5[\da-f]{3}-?[89ab][\da-f]{3}-?[\da-f]{12}$/i), UUID]],
  ['ipv4', [text => isIP(text) && text.includes('.'), 'an IPv4 address']],
  ['ipv6', [text => isIP(text) && text.includes(':'), 'an IPv6 address']],
  ['cidr', [isCidr, 'a block of addresses such as 10.0.0.0/8']],
  ['byte', [matching(/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{4})$/), 'base64']],
  ['hexcolor', [matching(/^#?(?:[\da-f]{3}|[\da-f]{6})$/i), 'a color such as #00ff00']],
  ['bsonobjectid', [matching(/^[\da-f]{24}$/i), '24 hexadecimal digits']],
  [
    'hostname',
    [
      text =>
        Buffer.byteLength(text) <= LONGEST_HOST &&
        HOST.test(text) &&
        text.split('.').every(part => Buffer.byteLength(part) <= 63),
      'a host name',
    ],
  ],
  ['uri', [text => parseUrl(text) !== undefined, 'a URI']],
])

/** The API server compares these, too. */
const UNDECIDED = new Set(
  'duration email mac isbn isbn10 isbn13 creditcard ssn rgbcolor datetime k8s-short-name k8s-long-name'.split(' '),
)

/** Durations that Go's time.ParseDuration takes without an overflow; the API server takes more, such as `3 days`. */
const GO_DURATION = /^[-+]?(?:0|(?:(?:\d{1,6}(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const LONGEST_DURATION = 16

const isGoDuration = (text: string) => text.length <= LONGEST_DURATION && GO_DURATION.test(text)

/** Why a text is not of a format; undefined where it is, or where the API server does not know the format. */
export function formatProblem(text: string, format: string, path: Path): Problem | 'unsure' | undefined {
  const known = FORMATS.get(format)
  if (format === 'duration' && isGoDuration(text)) return undefined
  if (known === undefined) return UNDECIDED.has(format) ? 'unsure' : undefined
  if (text.length > LONGEST) return 'unsure'
  return known[0](text) ? undefined : { kind: 'bad-format', path, allowed: known[1], found: 'text of another form' }
}
