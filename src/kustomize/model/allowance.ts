/** How much of several things may be used up, and how much has been. */
export class Allowance<What extends string> {
  private readonly limits: Readonly<Record<What, number>>
  private readonly scale: number
  private readonly used: Record<What, number>

  constructor(limits: Readonly<Record<What, number>>, scale: number) {
    this.limits = limits
    this.scale = scale
    this.used = Object.fromEntries(Object.keys(limits).map(what => [what, 0])) as Record<What, number>
  }

  limit(what: What): number {
    return this.limits[what] * this.scale
  }

  /** Whether it was still allowed; it is used up all the same. */
  take(what: What, amount: number): boolean {
    this.used[what] += amount
    return this.used[what] <= this.limit(what)
  }

  spent(): Readonly<Record<What, number>> {
    return { ...this.used }
  }

  /** Takes all of that, or nothing where it is more than what is left. */
  takeAll(amounts: Readonly<Record<What, number>>): boolean {
    const all = Object.keys(this.used) as What[]
    if (all.some(what => this.used[what] + amounts[what] > this.limit(what))) return false
    for (const what of all) this.used[what] += amounts[what]
    return true
  }
}

/** What was used up between two looks. */
export function difference<What extends string>(
  before: Readonly<Record<What, number>>,
  after: Readonly<Record<What, number>>,
): Record<What, number> {
  const all = Object.keys(before) as What[]
  return Object.fromEntries(all.map(what => [what, after[what] - before[what]])) as Record<What, number>
}
