import { CelError } from './cel-error.ts'
import { conversion } from './conversions.ts'
import { stringFunction } from './string-functions.ts'
import { CelMap, type CelValue, isEqual, isList, Optional, Time, TypeName, typeOf, Unsigned } from './values.ts'

/** Calls a function that isKnownFunction knows. Of a method the first argument is what it is called on. Throws CelError. */
export function callFunction(
  name: string,
  isMethod: boolean,
  args: readonly CelValue[],
  spend: (steps: number) => void,
): CelValue {
  const [first, second] = args
  if (name === 'size' && args.length === 1) return sizeOf(first!, spend)
  if (!isMethod) {
    if (name === 'type' && args.length === 1) return new TypeName(typeOf(first!))
    if (name === 'dyn' && args.length === 1) return first!
    const converted = args.length === 1 ? conversion(name, first!, spend) : undefined
    if (converted !== undefined) return converted
    if (name.startsWith('sets.') && isList(first!) && isList(second!)) return setFunction(name, first, second, spend)
  }
  const optional = optionalFunction(name, args)
  if (optional !== undefined) return optional
  const text = stringFunction(name, args, spend)
  if (text !== undefined) return text
  throw new CelError('no such overload')
}

function sizeOf(value: CelValue, spend: (steps: number) => void): bigint {
  if (typeof value === 'string') {
    spend(value.length / 10)
    return BigInt([...value].length)
  }
  if (isList(value) || value instanceof Uint8Array) return BigInt(value.length)
  if (value instanceof CelMap) return BigInt(value.entries.size)
  throw new CelError('no such overload')
}

function setFunction(
  name: string,
  a: readonly CelValue[],
  b: readonly CelValue[],
  spend: (steps: number) => void,
): boolean {
  const has = (set: readonly CelValue[], item: CelValue) => set.some(one => isEqual(one, item, spend))
  if (name === 'sets.contains') return b.every(item => has(a, item))
  if (name === 'sets.intersects') return b.some(item => has(a, item))
  return b.every(item => has(a, item)) && a.every(item => has(b, item))
}

function optionalFunction(name: string, args: readonly CelValue[]): CelValue | undefined {
  const [first, second] = args
  if (name === 'optional.none' && args.length === 0) return new Optional(undefined)
  if (name === 'optional.of' && args.length === 1) return new Optional(first!)
  if (name === 'optional.ofNonZeroValue' && args.length === 1) return new Optional(isZero(first!) ? undefined : first!)
  if (!(first instanceof Optional)) return undefined
  if (name === 'hasValue' && args.length === 1) return first.value !== undefined
  if (name === 'value' && args.length === 1) {
    if (first.value === undefined) throw new CelError('optional.none() dereference')
    return first.value
  }
  if (name === 'orValue' && args.length === 2) return first.value ?? second!
  if (name === 'or' && second instanceof Optional) return first.value === undefined ? second : first
  return undefined
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true
  if (value instanceof Unsigned) return value.value === 0n
  if (value instanceof Time) return value.nanos === (value.kind === 'duration' ? 0n : ZERO_TIME)
  if (isList(value) || value instanceof Uint8Array) return value.length === 0
  return value instanceof CelMap && value.entries.size === 0
}

/** Year 1, where Go's time begins. */
const ZERO_TIME = -62_135_596_800_000_000_000n
