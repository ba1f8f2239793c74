/**
 * Those of `parts` with which `fails` says yes, even alone. Asks about halves, so that few among many cost little; what
 * fails only together is the fault of no single part. Ends where `enough` have been found.
 */
export function failingParts<T>(
  parts: readonly T[],
  fails: (parts: readonly T[]) => boolean,
  enough = Number.POSITIVE_INFINITY,
): T[] {
  const found: T[] = []
  const visit = (some: readonly T[]): void => {
    if (some.length === 0 || found.length >= enough || !fails(some)) return
    if (some.length === 1) found.push(some[0]!)
    else {
      const middle = some.length >> 1
      visit(some.slice(0, middle))
      visit(some.slice(middle))
    }
  }
  visit(parts)
  return found
}
