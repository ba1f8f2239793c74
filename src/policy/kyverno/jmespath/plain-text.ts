import { type ContextValue, known, NotEvaluatedError, RuleError } from './values.ts'

/** A scalar as the text that Kyverno's functions use; numbers are rounded to 32-bit floats. */
export function plainText(value: ContextValue): string {
  const plain = known(value)
  if (typeof plain === 'string' || typeof plain === 'boolean') return String(plain)
  if (typeof plain !== 'number') throw new RuleError('a string or a number is expected')
  const rounded = Math.fround(plain)
  let text = String(rounded)
  for (let digits = 1; digits <= 17; digits++) {
    text = String(Number(rounded.toPrecision(digits)))
    if (Math.fround(Number(text)) === rounded) break
  }
  if (text.includes('e')) throw new NotEvaluatedError(`the number ${text} as a string`)
  return text
}
