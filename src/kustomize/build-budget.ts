import { BailiwickError } from '../base/errors.ts'
import type { Origin } from '../base/origin.ts'
import type { Node } from '../kube/node.ts'
import { isOrdinaryKey, isOrdinaryScalar } from '../kube/yaml/resolve-scalar.ts'

/** What may be used up, by one build or by all that share a budget; in steps, so that the same input always gives the same answer. */
const LIMITS = {
  directories: 2_000,
  objects: 10_000,
  bytes: 16 * 1024 * 1024,
  /** Values that are looked at or written by patches and transformers. */
  steps: 4_000_000,
  /** Values of what is built, those that stand in several places counted in each. */
  values: 2_000_000,
}

/** Values that one object may hold after a patch has copied parts of it. */
const MAX_OBJECT = 200_000

/** What builds have used up. */
export type BuildCost = Readonly<Record<keyof typeof LIMITS, number>>

export class BuildBudget {
  readonly allowance: Allowance<keyof typeof LIMITS>

  /** `scale`: how many times the usual limits. */
  constructor(scale = 1) {
    this.allowance = new Allowance(LIMITS, scale)
  }

  /** Throws `render-limits` when a build uses more of something than it may. */
  spend(what: keyof typeof LIMITS, amount: number, origin: Origin): void {
    if (this.allowance.take(what, amount)) return
    throw tooMuch(`rendering needs more than ${this.allowance.limit(what)} ${what}`, origin)
  }

  /** Every entry of a transformer looks at every object. */
  spendOnEach(objects: readonly unknown[], origin: Origin): void {
    this.spend('steps', 10 * objects.length + 2_000, origin)
  }

  /** A new name is written, kept and indexed, beside the look. */
  spendOnRenaming(objects: readonly unknown[], origin: Origin): void {
    this.spend('steps', 40 * objects.length + 2_000, origin)
  }

  /** Counts what is built. The counter sees everything, and reports whether writing it as text could change it. */
  spendOnResult(root: Node): boolean {
    const census = new Census(root, this.allowance.limit('values'))
    this.spend('values', census.values, root.origin)
    return !census.isOrdinary
  }

  /** Counts the values of a node as steps. */
  spendOn(node: Node, origin: Origin): void {
    this.spend('steps', new Census(node, this.allowance.limit('steps')).values, origin)
  }

  /** A merge takes an object apart and puts it together again. */
  spendOnMerge(node: Node, origin: Origin): void {
    this.spend('steps', 2 * new Census(node, this.allowance.limit('steps')).values, origin)
  }

  /** Each part of a copy gets a place of its own, which costs far more than a look. */
  spendOnCopy(node: Node, origin: Origin): void {
    this.spend('steps', 20 * new Census(node, this.allowance.limit('steps')).values, origin)
  }
}

/** Throws `render-limits` for an object that has become too large. */
export function checkObjectSize(node: Node, origin: Origin): void {
  if (new Census(node, MAX_OBJECT).values >= MAX_OBJECT)
    throw tooMuch(`an object of more than ${MAX_OBJECT} values`, origin)
}

/** Parts may be shared, so an object can be far larger than what holds it: counting ends at `limit`. */
class Census {
  values = 0
  isOrdinary = true
  private readonly limit: number

  constructor(root: Node, limit: number) {
    this.limit = limit
    this.visit(root)
  }

  private visit(node: Node): void {
    if (this.values++ >= this.limit) return
    if (node.type === 'map') {
      for (const [key, field] of node.fields) {
        if (this.isOrdinary && !isOrdinaryKey(key)) this.isOrdinary = false
        this.visit(field.value)
      }
    } else if (node.type === 'list') for (const item of node.items) this.visit(item)
    else {
      if (typeof node.value === 'string') this.values += node.value.length >> 6
      if (!isOrdinaryScalar(node)) this.isOrdinary = false
    }
  }
}

function tooMuch(what: string, origin: Origin): BailiwickError {
  return new BailiwickError('render-limits', what, {
    origin,
    fix: 'Remove large files from generators, or patches of many objects. All Kustomizations of a tenant on a cluster share this limit.',
  })
}

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
