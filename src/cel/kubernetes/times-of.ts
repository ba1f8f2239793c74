import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, Time } from '../values.ts'
import { durationText, goDouble, timestampText } from './value-text.ts'

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
