import { BailiwickError } from '../../errors.ts'
import { Allowance } from '../../kustomize/model/allowance.ts'
import type { Origin } from '../../origin.ts'

/** What the substitution of one Kustomization may use up, counted so that the same input always gives the same answer. */
const LIMITS = {
  /** Characters that expressions give, each result of a nested one counted too. */
  characters: 8 * 1024 * 1024,
  /** Comparisons of one character with one part of a glob. */
  comparisons: 1_500_000,
  expressions: 200_000,
}

export type Spent = keyof typeof LIMITS

/** Expressions inside expressions. */
export const MAX_NESTING = 50

export class SubstitutionBudget {
  readonly allowance: Allowance<Spent>

  /** `scale`: how many times the usual limits. */
  constructor(scale = 1) {
    this.allowance = new Allowance(LIMITS, scale)
  }

  /** Throws `render-limits` when a Kustomization uses more of something than it may. */
  spend(what: Spent, amount: number, origin: Origin): void {
    if (this.allowance.take(what, amount)) return
    const message = `substitution needs more than ${this.allowance.limit(what)} ${what}`
    throw new BailiwickError('render-limits', message, { origin, fix: 'Use fewer variables or shorter values.' })
  }
}
