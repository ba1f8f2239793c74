const DURATION = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
])
/** Go counts nanoseconds in 64 bits: about 292 years. */
const MAX_MS = 2 ** 63 / 1e6
const MAX_TEXT = 100

/** Milliseconds of a duration as Flux's CustomResourceDefinitions allow it (`1h30m`, `1.5s`); undefined for another text. */
export function readDuration(text: string): number | undefined {
  if (text.length > MAX_TEXT || !DURATION.test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * UNITS.get(unit!)!
  return sum < MAX_MS ? sum : undefined
}
