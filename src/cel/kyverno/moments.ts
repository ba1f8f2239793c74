import type { FunctionTable } from '../function-library.ts'
import { Time } from '../values.ts'

/** Nanoseconds from Go's zero time to 1970. */
const BEFORE_1970 = 62_135_596_800_000_000_000n

/** Functions of times that do not read the clock (kyverno/sdk extensions/cel/libs/time). */
export const MOMENTS: FunctionTable = {
  functions: {
    'time.truncate': ([moment, step]) => {
      if (!isOf(moment, 'timestamp') || !isOf(step, 'duration')) return undefined
      if (step.nanos <= 0n) return moment
      return new Time('timestamp', moment.nanos - ((moment.nanos + BEFORE_1970) % step.nanos))
    },
    'time.toCron': ([moment]) => {
      if (!isOf(moment, 'timestamp')) return undefined
      const millis = moment.nanos / 1_000_000n + BigInt(moment.zone) * 60_000n
      const day = new Date(Number(millis))
      const parts = [day.getUTCMinutes(), day.getUTCHours(), day.getUTCDate(), day.getUTCMonth() + 1, day.getUTCDay()]
      return parts.join(' ')
    },
  },
}

const isOf = (value: unknown, kind: Time['kind']): value is Time => value instanceof Time && value.kind === kind
