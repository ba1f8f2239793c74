import { count } from '../text/headline.ts'

/** Findings of other repositories, counted only: new violations and errors, which decide, and all others. */
export interface Elsewhere {
  readonly violations: number
  readonly errors: number
  readonly others: number
}

export const NOTHING_ELSEWHERE: Elsewhere = { violations: 0, errors: 0, others: 0 }

/** What is counted only, as one line; undefined where that is nothing. */
export function elsewhereText({ violations, errors, others }: Elsewhere): string | undefined {
  const parts = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'evaluation error')] : []),
    ...(others > 0 ? [`${count(others, 'finding')} without effect on the result`] : []),
  ]
  return parts.length === 0 ? undefined : `other repositories of the fleet: ${parts.join(', ')} (-o json lists all)`
}
