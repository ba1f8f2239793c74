import type { Time } from '../values.ts'

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
