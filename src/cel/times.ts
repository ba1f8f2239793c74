import { refuseLong } from './refuse-long.ts'

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(?:Z|([-+])(\d{2}):(\d{2}))$/
const DURATION = /^([-+]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
const NANOS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  // Greek mu; the entry above uses the micro sign
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])
const LIKE_A_DURATION = /^[+-]?[\d.][\d.hmsnuµμ]*$/
const MAX_TEXT = 100

/** Nanoseconds since 1970 of an RFC 3339 text. */
export function readTimestamp(text: string): bigint | undefined {
  const [, seconds, fraction = ''] = TIMESTAMP.exec(text) ?? []
  const zone = zoneOf(text)
  const millis = Date.parse(`${seconds}Z`)
  // a day that the month does not have is another day to JavaScript
  const isDay = Number.isFinite(millis) && new Date(millis).toISOString().startsWith(seconds!)
  if (!isDay || zone === undefined) return undefined
  return BigInt(millis - zone * 60_000) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

/** The UTC offset of an RFC 3339 text in minutes, as far as Go parses it. */
export function zoneOf(text: string): number | undefined {
  const [all, , , sign, hours = '0', minutes = '0'] = TIMESTAMP.exec(text) ?? []
  if (all === undefined || Number(hours) > 24 || Number(minutes) > 60) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Nanoseconds of a duration as Go writes it, such as `1h30m`. Throws CelBudgetError for one that is too long. */
export function readGoDuration(text: string): bigint | undefined {
  refuseLong(text, MAX_TEXT, LIKE_A_DURATION)
  const [, sign, parts] = text.length > MAX_TEXT ? [] : (DURATION.exec(text) ?? [])
  if (parts === undefined) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit] of parts.matchAll(PART)) {
    const nanos = NANOS.get(unit!)!
    sum += BigInt(whole || '0') * nanos + (BigInt(fraction || '0') * nanos) / 10n ** BigInt(fraction.length)
  }
  return sum >= 2n ** 63n ? undefined : sign === '-' ? -sum : sum
}
