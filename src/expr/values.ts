import type { Json } from '../kube/node.ts'
import { CelError, CelUnknownError, type Literal } from './expression.ts'

/** An unsigned integer. */
export class Unsigned {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A moment or a length of time, in nanoseconds. */
export class Time {
  readonly kind: 'timestamp' | 'duration'
  readonly nanos: bigint
  /** UTC offset in minutes of the time zone in which it is written. */
  readonly zone: number
  constructor(kind: 'timestamp' | 'duration', nanos: bigint, zone = 0) {
    this.kind = kind
    this.nanos = nanos
    this.zone = zone
  }
}

/** A value that may be absent. */
export class Optional {
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

type Entries = ReadonlyMap<string, readonly [CelValue, CelValue]>

/** A map: its entries by the canonical text of their keys. A function makes them when an expression reads them. */
export class CelMap {
  #entries: Entries | (() => Entries)
  constructor(entries: Entries | (() => Entries)) {
    this.#entries = entries
  }
  get entries(): Entries {
    if (typeof this.#entries === 'function') this.#entries = this.#entries()
    return this.#entries
  }
}

/**
 * A list whose schema declares it a set or a map: the order of its items is not significant, and `+` merges
 * (k8s.io/apiserver pkg/cel/common, unstructuredSetList and unstructuredMapList).
 */
export class AssociativeList extends Array<CelValue> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
  /** Names of the key fields of a map list; undefined for a set, whose items are compared as a whole. */
  names: readonly string[] | undefined

  static with(items: Iterable<CelValue>, names: readonly string[] | undefined): AssociativeList {
    const made = new AssociativeList()
    for (const item of items) made.push(item)
    made.names = names
    return made
  }

  keyOf(item: CelValue): string {
    if (this.names === undefined) return textOf(item)
    const fields = item instanceof CelMap ? item.entries : undefined
    return JSON.stringify(this.names.map(name => textOf(fields?.get(`s${name}`)?.[1])))
  }

  byKey(): Map<string, CelValue> {
    return new Map(this.map(item => [this.keyOf(item), item]))
  }
}

/** A text that distinguishes scalars of different types. */
function textOf(value: CelValue | undefined): string {
  if (value === undefined) return ''
  if (value instanceof NotKnown) throw new CelUnknownError(value.why)
  if (value instanceof Time) return `${value.kind} ${value.nanos}`
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (keyText(value) ?? String(value))
}

/** A value that a library defines, such as an address or a quantity. */
export abstract class LibraryValue {
  abstract readonly typeName: string
  abstract equals(other: LibraryValue): boolean
  /** A field that it has. */
  field(_name: string): CelValue | undefined {
    return undefined
  }
}

/** Fields that are computed when an expression reads them; an error of `field` is an error of that expression. */
export class LazyFields {
  readonly field: (name: string) => CelValue | undefined
  constructor(field: (name: string) => CelValue | undefined) {
    this.field = field
  }
}

/** What stands here is known only on the cluster: who needs it cannot be decided. */
export class NotKnown {
  readonly why: string
  /** The field may be absent. */
  readonly mayBeAbsent: boolean
  constructor(why: string, mayBeAbsent = false) {
    this.why = why
    this.mayBeAbsent = mayBeAbsent
  }
}

/** The type of a value, as `type()` gives it. */
export class TypeName {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Types that are values by their name, where no field of the object has it. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(
  'int uint double bool string bytes list map null_type type'.split(' '),
)

/** A value of CEL; integers are bigint. */
export type CelValue =
  | null
  | boolean
  | string
  | bigint
  | number
  | Unsigned
  | Uint8Array
  | readonly CelValue[]
  | CelMap
  | Optional
  | Time
  | TypeName
  | LibraryValue
  | LazyFields
  | NotKnown

/** A field of an object as CEL sees it: numbers without a fraction are integers. */
export function fromJson(json: Json): CelValue {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (json === null || typeof json !== 'object') return json
  if (Array.isArray(json)) return json.map(fromJson)
  // an integer beyond 2^53, as parseExact reads it
  if ('rawJSON' in json && Object.isFrozen(json)) return BigInt(String(json.rawJSON))
  return new CelMap(new Map(Object.entries(json).map(([key, item]) => [`s${key}`, [key, fromJson(item)] as const])))
}

export function ofLiteral(literal: Literal): CelValue {
  if (literal === null || typeof literal !== 'object' || literal instanceof Uint8Array) return literal
  return new Unsigned(literal.unsigned)
}

/** Canonical text of a key; undefined for what is not a key. Numbers of all types that are equal have one text. */
export function keyText(key: CelValue): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Unsigned) return `n${key.value}`
  return typeof key === 'number' && Number.isInteger(key) ? `n${BigInt(key)}` : undefined
}

export function typeOf(value: CelValue): string {
  if (value === null) return 'null_type'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'double'
  if (value instanceof Unsigned) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelMap) return 'map'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof TypeName) return 'type'
  if (value instanceof LibraryValue) return value.typeName
  if (value instanceof LazyFields || value instanceof NotKnown) return 'dyn'
  return value instanceof Time ? `google.protobuf.${value.kind === 'timestamp' ? 'Timestamp' : 'Duration'}` : 'list'
}

export const isList = (value: CelValue): value is readonly CelValue[] => Array.isArray(value)

/** A number of any of the three types; undefined for anything else. */
function numberOf(value: CelValue): bigint | number | undefined {
  if (value instanceof Unsigned) return value.value
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined
}

/** Equality of CEL: values of different types are not equal, but numbers are compared across their types. */
export function isEqual(one: CelValue, other: CelValue, spend: (steps: number) => void): boolean {
  spend(1)
  if (typeof one === 'string' && typeof other === 'string') spend(Math.min(one.length, other.length) / 10)
  for (const side of [one, other]) if (side instanceof NotKnown) throw new CelUnknownError(side.why)
  const [a, b] = [numberOf(one), numberOf(other)]
  // biome-ignore lint/suspicious/noDoubleEquals: an integer and a double are compared by value
  if (a !== undefined && b !== undefined) return a == b
  if (isList(one)) {
    if (!isList(other) || one.length !== other.length) return false
    if (one instanceof AssociativeList) return isSameSet(one, other, spend)
    return one.every((item, index) => isEqual(item, other[index]!, spend))
  }
  if (one instanceof CelMap) {
    if (!(other instanceof CelMap) || one.entries.size !== other.entries.size) return false
    for (const [key, [, value]] of one.entries) {
      const found = other.entries.get(key)
      if (!found || !isEqual(value, found[1], spend)) return false
    }
    return true
  }
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0
  if (one instanceof Time) return other instanceof Time && other.kind === one.kind && other.nanos === one.nanos
  if (one instanceof TypeName) return other instanceof TypeName && other.name === one.name
  if (one instanceof LibraryValue) return other instanceof LibraryValue && one.equals(other)
  if (one instanceof Optional) {
    if (!(other instanceof Optional)) return false
    if (one.value === undefined || other.value === undefined) return one.value === other.value
    return isEqual(one.value, other.value, spend)
  }
  return one === other
}

function isSameSet(one: AssociativeList, other: readonly CelValue[], spend: (steps: number) => void): boolean {
  const items = one.byKey()
  return other.every(item => {
    const known = items.get(one.keyOf(item))
    return known !== undefined && isEqual(known, item, spend)
  })
}

/** Below, equal, above; throws CelError for values that have no order. */
export function compare(one: CelValue, other: CelValue): number {
  const [a, b] = [numberOf(one), numberOf(other)]
  if (a !== undefined && b !== undefined) {
    if (Number.isNaN(a) || Number.isNaN(b)) throw new CelError('NaN values cannot be ordered')
    return a < b ? -1 : a > b ? 1 : 0
  }
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other))
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other)
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other)
  if (one instanceof Time && other instanceof Time && one.kind === other.kind) {
    return one.nanos < other.nanos ? -1 : one.nanos > other.nanos ? 1 : 0
  }
  throw new CelError('no such overload')
}

/** Counts work; throws where it is too much. */
export type CountSteps = (steps: number) => void

/** A function of a library; undefined: no function of that name takes such arguments. */
type CelFunction = (args: readonly CelValue[], spend: CountSteps) => CelValue | undefined

/** Functions by name. Of a method the first argument is what it is called on. */
export interface FunctionTable {
  readonly functions?: Readonly<Record<string, CelFunction>>
  readonly methods?: Readonly<Record<string, CelFunction>>
}

/** The functions of an environment of CEL, beyond those that every expression has. */
export class FunctionLibrary {
  readonly maxLinks: number
  readonly #functions: ReadonlyMap<string, readonly CelFunction[]>
  readonly #methods: ReadonlyMap<string, readonly CelFunction[]>
  readonly #isStandard: (name: string, isMethod: boolean) => boolean

  /** `isStandard`: which of the functions that every expression has exist; `maxLinks`: operators in a row. */
  constructor(
    tables: readonly FunctionTable[],
    isStandard: (name: string, isMethod: boolean) => boolean,
    maxLinks: number,
  ) {
    this.#functions = byName(tables.map(table => table.functions ?? {}))
    this.#methods = byName(tables.map(table => table.methods ?? {}))
    this.#isStandard = isStandard
    this.maxLinks = maxLinks
  }

  knows(name: string, isMethod: boolean): boolean {
    return (isMethod ? this.#methods : this.#functions).has(name) || this.#isStandard(name, isMethod)
  }

  /** Undefined where no function of the library takes such arguments. */
  call(name: string, isMethod: boolean, args: readonly CelValue[], spend: CountSteps): CelValue | undefined {
    for (const one of (isMethod ? this.#methods : this.#functions).get(name) ?? []) {
      const value = one(args, spend)
      if (value !== undefined) return value
    }
    return undefined
  }
}

function byName(tables: readonly Readonly<Record<string, CelFunction>>[]): Map<string, CelFunction[]> {
  const all = new Map<string, CelFunction[]>()
  for (const table of tables) {
    for (const [name, one] of Object.entries(table)) all.set(name, [...(all.get(name) ?? []), one])
  }
  return all
}

/** The items in the order of their keys: `sort` and `sortBy`. */
export function sorted(
  items: readonly CelValue[],
  keys: readonly CelValue[],
  spend: (steps: number) => void,
): CelValue {
  spend(items.length * Math.ceil(Math.log2(items.length + 1)))
  const order = keys.map((key, index) => ({ key, index }))
  for (const [a, b] of keys.slice(1).map((key, index) => [keys[index]!, key] as const)) {
    if (typeof a !== typeof b) throw new CelError('list elements must have the same type')
    compare(a, b)
  }
  return order.sort((a, b) => compare(a.key, b.key)).map(({ index }) => items[index]!)
}
