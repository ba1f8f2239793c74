import { difference } from '../kustomize/model/allowance.ts'
import { BuildBudget, type BuildCost } from '../kustomize/model/build-budget.ts'
import { PackBudget } from './pack-budget.ts'
import { type Spent, SubstitutionBudget } from './substitute/substitution-budget.ts'

/** What renderings have used up, beside packing, which is paid for once whoever does it. */
export interface RenderCost {
  readonly build: BuildCost
  readonly substitution: Readonly<Record<Spent, number>>
}

/**
 * The platform's own Kustomizations may hold what thousands of tenants are made of, and their authors are not those whom
 * the limits are for: a tenant has the usual ones for all of theirs together.
 */
export const PLATFORM_SCALE = 10

/** What rendering may use up: of one Kustomization, or of all that share it (those of a tenant on a cluster). */
export class RenderBudget {
  readonly pack: PackBudget
  readonly build: BuildBudget
  readonly substitution: SubstitutionBudget

  /** `scale`: how many times the usual limits. */
  constructor(scale = 1) {
    this.pack = new PackBudget(scale)
    this.build = new BuildBudget(scale)
    this.substitution = new SubstitutionBudget(scale)
  }

  /** What was used up so far. */
  spent(): RenderCost {
    return { build: this.build.allowance.spent(), substitution: this.substitution.allowance.spent() }
  }

  /** Takes what a rendering cost that need not be done again; false, and nothing taken, where that is more than is left. */
  takeAll({ build, substitution }: RenderCost): boolean {
    const before = this.build.allowance.spent()
    if (!this.build.allowance.takeAll(build)) return false
    if (this.substitution.allowance.takeAll(substitution)) return true
    this.build.allowance.takeAll(difference(this.build.allowance.spent(), before))
    return false
  }
}

/** What was used up since `before`. */
export function costSince(budget: RenderBudget, before: RenderCost): RenderCost {
  const { build, substitution } = budget.spent()
  return { build: difference(before.build, build), substitution: difference(before.substitution, substitution) }
}
