import { asInt, asTime, asUint } from './arithmetic.ts'
import { CelBudgetError, CelError } from './cel-error.ts'
import { readGoDuration, readTimestamp, zoneOf } from './times.ts'
import { type CelValue, Time, Unsigned } from './values.ts'

/** Allows any number of leading zeros. */
const INTEGER = /^[-+]?0*[0-9]{1,25}$/
const UNSIGNED = /^0*[0-9]{1,25}$/
const DOUBLE = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/
const NO_NUMBER = /^([-+]?)(?:inf(?:inity)?|(nan))$/i
/** Go also reads hexadecimal integers. */
const HEX = /^[-+]?0x/i
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** A type conversion, such as `int("3")`; undefined: no conversion of that name takes such a value. */
export function conversion(name: string, value: CelValue, spend: (steps: number) => void): CelValue | undefined {
  if (typeof value === 'string' || value instanceof Uint8Array) spend(value.length / 10)
  switch (name) {
    case 'int':
      return toInt(value)
    case 'uint':
      return toUint(value)
    case 'double':
      return toDouble(value)
    case 'string':
      return toText(value)
    case 'bool':
      return toFlag(value)
    case 'bytes':
      return typeof value === 'string' ? Uint8Array.from(Buffer.from(value)) : ofType(value, Uint8Array)
    case 'timestamp':
      return value instanceof Time && value.kind === 'timestamp' ? value : timeOf('timestamp', value)
    case 'duration':
      return value instanceof Time && value.kind === 'duration' ? value : timeOf('duration', value)
    case 'base64.encode':
      return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : undefined
    case 'base64.decode':
      return typeof value === 'string' ? decode(value) : undefined
    default:
      return undefined
  }
}

const ofType = (value: CelValue, type: typeof Uint8Array): Uint8Array | undefined =>
  value instanceof type ? value : undefined

function toInt(value: CelValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (value instanceof Unsigned) return asInt(value.value)
  if (typeof value === 'number') {
    if (!(Math.abs(value) < 2 ** 63)) throw new CelError('integer overflow')
    return BigInt(Math.trunc(value))
  }
  if (value instanceof Time && value.kind === 'timestamp') return value.nanos / 1_000_000_000n
  if (typeof value !== 'string') return undefined
  if (!INTEGER.test(value)) throw new CelError('type conversion error')
  return asInt(BigInt(value.replace(/^\+/, '')))
}

function toUint(value: CelValue): Unsigned | undefined {
  if (value instanceof Unsigned) return value
  if (typeof value === 'bigint') return asUint(value)
  if (typeof value === 'number') {
    if (!(value > -1 && value < 2 ** 64)) throw new CelError('unsigned integer overflow')
    return asUint(BigInt(Math.trunc(value)))
  }
  if (typeof value !== 'string') return undefined
  if (!UNSIGNED.test(value)) throw new CelError('type conversion error')
  return asUint(BigInt(value))
}

function toDouble(value: CelValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Unsigned) return Number(value.value)
  if (typeof value !== 'string') return undefined
  const [other, sign, isNan] = NO_NUMBER.exec(value) ?? []
  if (other !== undefined && !(isNan && sign)) return isNan ? Number.NaN : sign === '-' ? -Infinity : Infinity
  if (HEX.test(value)) throw new CelBudgetError('a double in base 16')
  // Go allows an underscore between digits
  const digits = value.replace(/(?<=\d)_(?=\d)/g, '')
  const number = DOUBLE.test(digits) ? Number(digits) : Number.NaN
  if (!Number.isFinite(number)) throw new CelError('type conversion error')
  return number
}

function toFlag(value: CelValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  if (TRUE.has(value)) return true
  if (FALSE.has(value)) return false
  throw new CelError('type conversion error')
}

function toText(value: CelValue): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return String(value.value)
  if (value instanceof Uint8Array) return decodeText(value)
  // Go writes very large and very small ones otherwise
  const size = typeof value === 'number' ? Math.abs(value) : Number.NaN
  if (size === 0 || (size < 1e20 && size >= 1e-4)) return String(value)
  return undefined
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8')
  }
}

function timeOf(kind: 'timestamp' | 'duration', value: CelValue): Time | undefined {
  if (typeof value === 'bigint' && kind === 'timestamp') return asTime(kind, value * 1_000_000_000n)
  if (typeof value !== 'string') return undefined
  const nanos = kind === 'timestamp' ? readTimestamp(value) : readGoDuration(value)
  if (nanos === undefined) throw new CelError('type conversion error')
  return asTime(kind, nanos, kind === 'timestamp' ? zoneOf(value) : 0)
}

/** With or without padding. */
function decode(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new CelError('illegal base64 data')
  return Uint8Array.from(Buffer.from(text, 'base64'))
}
