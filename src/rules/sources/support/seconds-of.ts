const UNITS = { h: 3600, m: 60, s: 1, ms: 0.001 } as const
/** Nanoseconds of Go are an int64. */
const MOST = 2 ** 63 / 1e9

/**
 * Seconds of a duration as the API of Flux takes it; undefined where it refuses the text: a sign, another unit (`1d`), no
 * unit at all, more than the 292 years that Go can count.
 */
export function secondsOf(text: string): number | undefined {
  if (text.length > 64 || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined
  let seconds = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    seconds += Number(number) * UNITS[unit as keyof typeof UNITS]
  }
  return seconds > MOST ? undefined : seconds
}
