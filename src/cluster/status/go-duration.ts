/** A duration as Go writes it (time.Duration.String): `0s`, `1.5ms`, `30s`, `9m30s`, `1h0m0s`. */
export function goDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds)
  if (ms === 0) return '0s'
  if (ms < 1_000) return `${trimmed(ms)}ms`
  const seconds = ms / 1_000
  const hours = Math.floor(seconds / 3_600)
  const minutes = Math.floor((seconds % 3_600) / 60)
  const rest = `${trimmed(seconds - hours * 3_600 - minutes * 60)}s`
  if (hours > 0) return `${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}

/** Microseconds are more than a clock of ours knows. */
const trimmed = (value: number): string => String(Number(value.toFixed(6)))
