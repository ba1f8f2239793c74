import { BailiwickError } from '../../../src/base/errors.ts'

/** What a step gives, or what it is refused with; any other error is thrown on. */
export function attempt<T>(step: () => T): T | BailiwickError {
  try {
    return step()
  } catch (error) {
    if (error instanceof BailiwickError) return error
    throw error
  }
}

/** What a step is refused with; throws where it is done. */
export function refusalOf(step: () => unknown): BailiwickError {
  const refusal = attempt(step)
  if (refusal instanceof BailiwickError) return refusal
  throw new Error('was not refused')
}

/** `code rule @file:line` of what a step is refused with; `done` where it is not. */
export function refusalAt(step: () => unknown): string {
  const refusal = attempt(step)
  if (!(refusal instanceof BailiwickError)) return 'done'
  const { code, rule, origin } = refusal
  return `${code}${rule ? ` ${rule}` : ''} @${origin?.file}:${origin?.line}`
}
