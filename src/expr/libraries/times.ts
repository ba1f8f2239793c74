import { CelError } from '../expression.ts'
import { type CelValue, type FunctionTable, Time } from '../values.ts'

const PARTS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: date => date.getUTCFullYear(),
  getMonth: date => date.getUTCMonth(),
  getDate: date => date.getUTCDate(),
  getDayOfMonth: date => date.getUTCDate() - 1,
  getDayOfWeek: date => date.getUTCDay(),
  getDayOfYear: date => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
}
const CLOCK: Readonly<Record<string, readonly [bigint, bigint]>> = {
  getHours: [3_600_000_000_000n, 24n],
  getMinutes: [60_000_000_000n, 60n],
  getSeconds: [1_000_000_000n, 60n],
  getMilliseconds: [1_000_000n, 1_000n],
}

/** Parts of moments and durations, and their texts (cel-spec, standard definitions). */
export const TIMES: FunctionTable = {
  functions: {
    string: ([one]) => {
      if (one instanceof Time) return one.kind === 'duration' ? durationText(one.nanos) : timestampText(one)
      return typeof one === 'number' ? goDouble(one) : undefined
    },
  },
  methods: {
    ...Object.fromEntries(
      Object.entries(PARTS).map(([name, part]) => [name, (args: readonly CelValue[]) => ofMoment(args, part)]),
    ),
    ...Object.fromEntries(
      Object.entries(CLOCK).map(([name, [unit, count]]) => [
        name,
        (args: readonly CelValue[]) => ofClock(args, unit, count),
      ]),
    ),
  },
}

function ofMoment([one, zone]: readonly CelValue[], part: (date: Date) => number): CelValue | undefined {
  if (!(one instanceof Time) || one.kind !== 'timestamp') return undefined
  const moved = one.nanos + offset(zone)
  return BigInt(part(new Date(Number((moved - (((moved % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n))))
}

function ofClock([one, zone]: readonly CelValue[], unit: bigint, count: bigint): CelValue | undefined {
  if (!(one instanceof Time)) return undefined
  if (one.kind === 'duration') return unit === 1_000_000n ? (one.nanos / unit) % count : one.nanos / unit
  const moved = one.nanos + offset(zone)
  const size = unit * count
  return (((moved % size) + size) % size) / unit
}

/** Of a zone that is written as a distance; names of zones need a table. */
function offset(zone: CelValue | undefined): bigint {
  if (zone === undefined || zone === 'UTC' || zone === 'Z') return 0n
  const [, sign, hours, minutes] = typeof zone === 'string' ? (/^([-+]?)(\d{2}):(\d{2})$/.exec(zone) ?? []) : []
  if (hours === undefined) throw new CelError('a time zone must be written as +hh:mm here')
  const nanos = (BigInt(hours) * 60n + BigInt(minutes!)) * 60_000_000_000n
  return sign === '-' ? -nanos : nanos
}

/** A double as Go's `%g` writes it. */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const exponent = value === 0 ? 0 : Number(value.toExponential().split('e')[1])
  if (exponent < -4 || exponent >= 21) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  const digits = value.toExponential().split('e')[0]!.replace(/[-.]/g, '').length
  const limit = Math.max(digits, 6)
  if (exponent >= (digits > exponent ? limit : 21)) return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  return String(value)
}

/** A duration in seconds, as CEL writes it. */
export function durationText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`
}

/** A timestamp in RFC 3339, in the time zone in which it was written. */
export function timestampText({ nanos: moment, zone }: Time): string {
  const nanos = moment + BigInt(zone) * 60_000_000_000n
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  const seconds = (nanos - rest) / 1_000_000_000n
  const fraction = String(rest).padStart(9, '0').replace(/0+$/, '')
  const text = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19)
  return `${text}${fraction === '' ? '' : `.${fraction}`}${zoneText(zone)}`
}

function zoneText(zone: number): string {
  if (zone === 0) return 'Z'
  const size = Math.abs(zone)
  const two = (count: number) => String(count).padStart(2, '0')
  return `${zone < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
